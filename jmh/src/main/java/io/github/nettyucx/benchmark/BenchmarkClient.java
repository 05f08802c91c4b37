// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
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
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.HdrHistogram.AbstractHistogram;

/** The client's half of a measurement: connects, warms up, waits at the barrier, measures. Not for an event loop. */
final class BenchmarkClient implements MeasuredClient {
    private static final int CONNECT_TIMEOUT_MILLIS = 10_000;
    /** Connections made at the same time; few enough for the backlog of any server. */
    private static final int CONNECT_BATCH = 64;
    private static final long STALL_SECONDS = 30;
    private static final long WATCH_MILLIS = 250;
    private static final long SHUTDOWN_SECONDS = 5;

    private final Task task;
    private final InetSocketAddress server;
    private final Compilers compilers;
    private final Tls tls;
    private final Barrier barrier;
    private final EventLoopGroup group;
    private final long[] threads;
    /** Those that are connected. */
    private final List<Channel> channels = new ArrayList<>();
    private final List<ClientHandler> handlers = new ArrayList<>();

    /** @param serverPid the server's process, which is on the same host */
    BenchmarkClient(Task task, HostAndPort server, long serverPid, Barrier barrier) throws InterruptedException {
        this.task = task;
        this.server = server.resolve();
        tls = Tls.ofClient(task);
        compilers = new Compilers(ProcessHandle.current().pid(), serverPid);
        this.barrier = barrier;
        group = task.setting().transport().newEventLoopGroup(task.scenario().loops());
        threads = Loops.start(group);
    }

    @Override
    public ClientResult measure() throws InterruptedException {
        return switch (task.scenario().work()) {
            case LATENCY, THROUGHPUT, BIDIRECTIONAL, MANY -> new Exchange(this).measure();
            case CONNECT -> new Connects(this).measure();
            case MEMORY, IDLE -> new Idleness(this).measure();
            case FAIRNESS -> new Fairness(this).measure();
            case START, START_AOT, FIRST_LATENCY, FIRST_THROUGHPUT, GRPC_UNARY, GRPC_STREAM, MESSAGES,
                 MESSAGE_CALLS, ALL_TO_ALL, APPLICATIONS ->
                    throw new IllegalStateException(task.scenario().work() + " is the work of others");
        };
    }

    Scenario scenario() {
        return task.scenario();
    }

    String software() {
        return task.setting().transport().software();
    }

    /** What carries the connections' bytes. */
    String lanes() {
        return channels.stream().map(task.setting().transport()::lane).distinct().sorted()
                .collect(Collectors.joining("+"));
    }

    void awaitStart() throws InterruptedException {
        barrier.await();
    }

    /** The measurement is over. @return what this process has used until now */
    ProcessState end() {
        barrier.over();
        return state();
    }

    /** Both processes'. */
    Compilers compilers() {
        return compilers;
    }

    ProcessState state() {
        return ProcessState.now(threads);
    }

    List<ClientHandler> handlers() {
        return handlers;
    }

    String lane(Channel channel) {
        return task.setting().transport().lane(channel);
    }

    /** Makes one connection. */
    ChannelFuture connect(ClientHandler handler) {
        var bootstrap = new Bootstrap();
        if (scenario().receiveBuffer() > 0) {
            bootstrap.option(ChannelOption.SO_RCVBUF, scenario().receiveBuffer());
        }
        return bootstrap
                .group(group)
                .channel(task.setting().transport().socketChannel())
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, BenchmarkServer.waterMark(scenario()))
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        tls.addTo(channel, server);
                        channel.pipeline().addLast(handler);
                    }
                })
                .connect(server);
    }

    /** Makes connections until there are that many, each of which has made a round trip. */
    void connectUpTo(int connections) throws InterruptedException {
        var first = handlers.size();
        while (handlers.size() < connections) {
            var batch = new ArrayList<ChannelFuture>();
            while (batch.size() < CONNECT_BATCH && handlers.size() < connections) {
                var handler = new ClientHandler();
                handlers.add(handler);
                batch.add(connect(handler));
            }
            for (var connecting : batch) {
                if (!connecting.await().isSuccess()) {
                    throw new ExampleFailure("cannot make connection " + (channels.size() + 1) + ": "
                            + Explanation.of(connecting.cause()), connecting.cause());
                }
                channels.add(connecting.channel());
            }
        }
        runAll(handlers.subList(first, connections), new Phase(Phase.Kind.ECHO, 1, 1, 1), null);
    }

    /**
     * Lets connections do the same at the same time, and waits for all of them.
     *
     * @param histograms one for each connection, for round trips; or {@code null}
     * @return how long it took, in nanoseconds
     */
    long runAll(List<ClientHandler> connections, Phase phase, List<? extends AbstractHistogram> histograms)
            throws InterruptedException {
        return awaitAll(connections, i -> connections.get(i)
                .start(phase, histograms == null ? null : histograms.get(i)));
    }

    /**
     * @param starts the work of the connection with that index
     * @return how long it took all of them, in nanoseconds
     */
    long awaitAll(List<ClientHandler> connections, IntFunction<Future<Void>> starts) throws InterruptedException {
        var done = new CountDownLatch(1);
        var failure = new AtomicReference<Throwable>();
        var end = new AtomicReference<Long>();
        var pending = new AtomicInteger(connections.size());
        var begin = System.nanoTime();
        for (var i = 0; i < connections.size(); i++) {
            starts.apply(i).addListener(future -> {
                if (!future.isSuccess()) {
                    failure.compareAndSet(null, future.cause());
                    done.countDown();
                } else if (pending.decrementAndGet() == 0) {
                    end.set(System.nanoTime());
                    done.countDown();
                }
            });
        }
        watch(connections, done);
        if (failure.get() != null) {
            throw new ExampleFailure(Explanation.of(failure.get()), failure.get());
        }
        return end.get() - begin;
    }

    /** Gives up when nothing at all arrives any more, and nothing is sent. */
    private static void watch(List<ClientHandler> connections, CountDownLatch done) throws InterruptedException {
        var progress = -1L;
        var changed = System.nanoTime();
        while (!done.await(WATCH_MILLIS, TimeUnit.MILLISECONDS)) {
            var now = connections.stream().mapToLong(ClientHandler::moved).sum();
            if (now != progress) {
                progress = now;
                changed = System.nanoTime();
            } else if (System.nanoTime() - changed > TimeUnit.SECONDS.toNanos(STALL_SECONDS)) {
                throw new ExampleFailure("nothing was sent and nothing arrived for " + STALL_SECONDS + " s");
            }
        }
    }

    @Override
    public void close() {
        // The orderly way out: closing a channel flushes and says goodbye before the event loops go.
        channels.stream().map(Channel::close).toList().forEach(ChannelFuture::awaitUninterruptibly);
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
