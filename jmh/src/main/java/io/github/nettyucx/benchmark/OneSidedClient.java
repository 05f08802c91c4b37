// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.channel.Ucx;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.HostAndPort;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.AbstractHistogram;

/** Does operations on the memory of an {@link OneSidedServer}, all of them on its event loop. */
final class OneSidedClient implements MeasuredClient {
    private static final long SHUTDOWN_SECONDS = 5;
    private static final long OPEN_SECONDS = 30;

    private final Scenario scenario;
    private final Compilers compilers;
    private final Barrier barrier;
    private final EventLoopGroup group;
    private final long[] threads;
    private final UcxSocketChannel channel;
    private final CompletableFuture<OneSidedOperations> ready = new CompletableFuture<>();

    /** @param serverPid the server's process */
    OneSidedClient(OneSided.Plan plan, HostAndPort server, long serverPid, Barrier barrier) throws InterruptedException {
        scenario = plan.scenario();
        this.barrier = barrier;
        compilers = new Compilers(ProcessHandle.current().pid(), serverPid);
        group = plan.setting().transport().newEventLoopGroup(1);
        threads = Loops.start(group);
        var connected = new Bootstrap().group(group).channel(plan.setting().transport().socketChannel())
                .handler(new Peer(plan)).connect(server.resolve()).await();
        if (!connected.isSuccess()) {
            throw new ExampleFailure("cannot connect: " + connected.cause(), connected.cause());
        }
        channel = (UcxSocketChannel) connected.channel();
    }

    private final class Peer extends OneSidedPeer {
        private OneSidedOperations operations;
        /** The server has opened the key that this side has sent. */
        private boolean answered;

        Peer(OneSided.Plan plan) {
            super(plan);
        }

        @Override
        void opened(OneSidedOperations opened) {
            operations = opened;
            completeIfReady();
        }

        @Override
        void notified(long value) {
            if (answered) {
                operations.answered();
            } else {
                answered = true;
                completeIfReady();
            }
        }

        private void completeIfReady() {
            if (operations != null && answered) {
                ready.complete(operations);
            }
        }

        @Override
        void received(ChannelHandlerContext context, int bytes) {
            operations.received(bytes);
        }

        @Override
        void failed(Throwable cause) {
            if (!ready.completeExceptionally(cause)) {
                operations.end(cause);
            }
        }
    }

    @Override
    public ClientResult measure() throws InterruptedException {
        await(ready.orTimeout(OPEN_SECONDS, TimeUnit.SECONDS));
        var operations = Calibration.warmUp(scenario, compilers, number -> run(number, Durations.newHistogram()));
        var measured = Durations.newHistogram();
        barrier.await();

        var before = ProcessState.now(threads);
        var seconds = run(operations, measured) / 1e9;
        barrier.over();
        var after = ProcessState.now(threads);
        if (scenario.work() == Work.BIDIRECTIONAL) {
            operations *= 2;
        }
        var rate = operations / seconds;
        var figures = new EnumMap<Metric, Double>(Map.of(Metric.RATE, rate));
        var software = "UCX " + Ucx.version();
        if (scenario.work() == Work.LATENCY) {
            figures.putAll(Durations.figures(measured));
            return new ClientResult(new Sample(channel.lane(), software, operations, seconds, figures,
                    Durations.percentiles(measured), Durations.encode(measured)), before, after);
        }
        figures.put(Metric.BANDWIDTH, rate * scenario.size() / 1e9);
        return new ClientResult(new Sample(channel.lane(), software, operations, seconds, figures, null, null), before,
                after);
    }

    private long run(long number, AbstractHistogram durations) throws InterruptedException {
        var end = new CompletableFuture<Void>();
        var begin = System.nanoTime();
        channel.eventLoop().execute(() -> {
            if (scenario.work() == Work.BIDIRECTIONAL) {
                ready.resultNow().startBoth(number, cause -> complete(end, cause));
            } else {
                ready.resultNow().start(number, durations, cause -> complete(end, cause));
            }
        });
        await(end);
        return System.nanoTime() - begin;
    }

    private static void complete(CompletableFuture<Void> end, Throwable cause) {
        if (cause == null) {
            end.complete(null);
        } else {
            end.completeExceptionally(cause);
        }
    }

    private static void await(CompletableFuture<?> future) throws InterruptedException {
        try {
            future.get();
        } catch (ExecutionException e) {
            throw new ExampleFailure("an operation on memory has failed: " + e.getCause(), e.getCause());
        }
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
