// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.Progress;
import io.github.nettyucx.examples.Setting;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.IntCountsHistogram;

/** Opens the connections, lets all of them ping at once, and sums up what they measured. */
final class PingPongClient {
    private static final int CONNECT_TIMEOUT_MILLIS = 10_000;
    /** Connections made at the same time; few enough for the backlog of any server. */
    private static final int CONNECT_BATCH = 64;
    private static final long PROGRESS_MILLIS = 250;
    private static final long STALL_SECONDS = 30;
    private static final long SHUTDOWN_SECONDS = 5;
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int HISTOGRAM_DIGITS = 3;

    private final Setting setting;
    private final Workload load;
    private final Progress progress;
    /** Those that are connected. */
    private final List<Channel> channels = new ArrayList<>();
    private final List<PingPongClientHandler> handlers = new ArrayList<>();

    PingPongClient(Setting setting, Workload load, Progress progress) {
        this.setting = setting;
        this.load = load;
        this.progress = progress;
    }

    /** Blocks until the measurement is done; not for an event loop. */
    Measurement measure(HostAndPort server) throws InterruptedException {
        setting.transport().ensureAvailable();
        var address = server.resolve();
        var group = setting.transport().newEventLoopGroup(load.threads());
        try {
            connect(group, server, address);
            await((handler, _) -> handler.proveOnce());
            await((handler, _) -> handler.roundTrips(load.warmup(), null));
            var histograms = new ArrayList<IntCountsHistogram>();
            handlers.forEach(_ -> histograms.add(new IntCountsHistogram(LONGEST_NANOS, HISTOGRAM_DIGITS)));
            var start = System.nanoTime();
            await((handler, i) -> handler.roundTrips(load.iterations(), histograms.get(i)));
            var nanos = System.nanoTime() - start;
            await((handler, _) -> handler.proveOnce());
            var merged = new Histogram(LONGEST_NANOS, HISTOGRAM_DIGITS);
            histograms.forEach(merged::add);
            return Measurement.of(setting, lanes(), load, merged, nanos);
        } finally {
            // The orderly way out: closing a channel flushes and says goodbye before the event loops go.
            channels.stream().map(Channel::close).toList().forEach(ChannelFuture::awaitUninterruptibly);
            group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    private void connect(EventLoopGroup group, HostAndPort server, InetSocketAddress address)
            throws InterruptedException {
        var bootstrap = new Bootstrap()
                .group(group)
                .channel(setting.transport().socketChannel())
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS);
        while (handlers.size() < load.connections()) {
            var batch = new ArrayList<ChannelFuture>();
            while (batch.size() < CONNECT_BATCH && handlers.size() < load.connections()) {
                var handler = new PingPongClientHandler(load.size().bytes(), handlers.size());
                handlers.add(handler);
                batch.add(bootstrap.clone().handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(handler);
                    }
                }).connect(address));
            }
            for (var connecting : batch) {
                if (!connecting.await().isSuccess()) {
                    throw new ExampleFailure("cannot connect to " + server + ": "
                            + Explanation.of(connecting.cause()), connecting.cause());
                }
                channels.add(connecting.channel());
            }
        }
    }

    private String lanes() {
        return channels.stream().map(setting.transport()::lane).distinct().sorted().collect(Collectors.joining("+"));
    }

    /** Lets every connection do the same and waits for all of them, or for the first that fails. */
    private void await(BiFunction<PingPongClientHandler, Integer, Future<Void>> work) throws InterruptedException {
        var done = new CountDownLatch(1);
        var failure = new AtomicReference<Throwable>();
        var pending = new AtomicInteger(handlers.size());
        for (var i = 0; i < handlers.size(); i++) {
            var connection = i;
            work.apply(handlers.get(i), i).addListener(future -> {
                if (!future.isSuccess()) {
                    failure.compareAndSet(null, new ExampleFailure("connection " + (connection + 1) + " of "
                            + handlers.size() + ": " + Explanation.of(future.cause()), future.cause()));
                    done.countDown();
                } else if (pending.decrementAndGet() == 0) {
                    done.countDown();
                }
            });
        }
        watch(done);
        if (failure.get() instanceof ExampleFailure told) {
            throw told;
        }
    }

    /** Reports the progress, and gives up when nothing at all arrives any more. */
    private void watch(CountDownLatch done) throws InterruptedException {
        var bytes = -1L;
        var changed = System.nanoTime();
        while (!done.await(PROGRESS_MILLIS, TimeUnit.MILLISECONDS)) {
            var now = handlers.stream().mapToLong(PingPongClientHandler::bytesReceived).sum();
            if (now != bytes) {
                bytes = now;
                changed = System.nanoTime();
                progress.at((double) bytes / load.size().bytes() / load.totalRounds());
            } else if (System.nanoTime() - changed > TimeUnit.SECONDS.toNanos(STALL_SECONDS)) {
                throw new ExampleFailure("nothing arrived for " + STALL_SECONDS + " s, "
                        + bytes / load.size().bytes() + " of " + load.totalRounds() + " round trips were done");
            }
        }
    }
}
