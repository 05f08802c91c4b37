// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.channel.Ucx;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.memory.UcxCompletion;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.AbstractHistogram;

/** Does operations on the memory of an {@link OneSidedServer}, all of them on its event loop. */
final class OneSidedClient implements MeasuredClient {
    /** Operations under way at a time, of throughput. */
    static final int WINDOW = 64;
    private static final long SHUTDOWN_SECONDS = 5;
    private static final long OPEN_SECONDS = 30;

    private final Scenario scenario;
    private final OneSided.Kind kind;
    private final Compilers compilers;
    private final Barrier barrier;
    private final EventLoopGroup group;
    private final long[] threads;
    private final UcxSocketChannel channel;
    private final Peer peer;
    private final CompletableFuture<UcxRemoteMemory> ready = new CompletableFuture<>();
    private final ByteBuf target;

    // Of the event loop.
    private UcxRemoteMemory remote;
    private final UcxCompletion completion = (id, value, cause) -> done(cause);
    private final int window;
    private AbstractHistogram histogram;
    private long begun;
    private long done;
    private long count;
    private long startedAt;
    private boolean beginning;
    private CompletableFuture<Void> run;

    /** @param serverPid the server's process */
    OneSidedClient(OneSided.Plan plan, HostAndPort server, long serverPid, Barrier barrier) throws InterruptedException {
        scenario = plan.scenario();
        kind = plan.kind();
        this.barrier = barrier;
        window = scenario.work() == Work.LATENCY ? 1 : WINDOW;
        compilers = new Compilers(ProcessHandle.current().pid(), serverPid);
        target = new UnpooledByteBufAllocator(true, true).directBuffer(scenario.size(), scenario.size());
        group = plan.setting().transport().newEventLoopGroup(1);
        threads = Loops.start(group);
        peer = new Peer();
        var connected = new Bootstrap().group(group).channel(plan.setting().transport().socketChannel()).handler(peer)
                .connect(server.resolve()).await();
        if (!connected.isSuccess()) {
            throw new ExampleFailure("cannot connect: " + connected.cause(), connected.cause());
        }
        channel = (UcxSocketChannel) connected.channel();
    }

    private final class Peer extends OneSidedPeer {
        /** The server has opened the key that this side has sent. */
        private boolean answered;

        Peer() {
            super(scenario.size());
        }

        @Override
        void opened(UcxRemoteMemory opened) {
            remote = opened;
            completeIfReady();
        }

        @Override
        void notified() {
            if (ready.isDone()) {
                done(null);
            } else {
                answered = true;
                completeIfReady();
            }
        }

        private void completeIfReady() {
            if (remote != null && answered) {
                ready.complete(remote);
            }
        }

        @Override
        void failed(Throwable cause) {
            ready.completeExceptionally(cause);
            OneSidedClient.this.done(cause);
        }
    }

    @Override
    public ClientResult measure() throws InterruptedException {
        await(ready.orTimeout(OPEN_SECONDS, TimeUnit.SECONDS));
        var unused = Durations.newHistogram();
        var operations = Calibration.warmUp(scenario, compilers, number -> run(number, unused));
        var measured = Durations.newHistogram();
        barrier.await();

        var before = ProcessState.now(threads);
        var seconds = run(operations, measured) / 1e9;
        var after = ProcessState.now(threads);
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
            run = end;
            histogram = durations;
            count = number;
            begun = 0;
            done = 0;
            begin();
        });
        await(end);
        return System.nanoTime() - begin;
    }

    private static void await(CompletableFuture<?> future) throws InterruptedException {
        try {
            future.get();
        } catch (ExecutionException e) {
            throw new ExampleFailure("an operation on memory has failed: " + e.getCause(), e.getCause());
        }
    }

    /** As many as may be under way. One that is done at once calls back within this. */
    private void begin() {
        beginning = true;
        while (begun < count && begun - done < window) {
            begun++;
            if (window == 1) {
                startedAt = System.nanoTime();
            }
            switch (kind) {
                case PUT -> remote.put(0, peer.source.retain(), completion, 0);
                case PUT_AND_NOTIFY -> remote.putAndNotify(0, peer.source.retain(), 0, null, 0);
                case GET -> remote.get(0, target, 0, scenario.size(), completion, 0);
                case FETCH_AND_ADD -> remote.fetchAndAdd(0, 1, completion, 0);
                case COMPARE_AND_SWAP -> remote.compareAndSwap(0, 0, 0, completion, 0);
            }
        }
        beginning = false;
        if (done == count && run != null) {
            var ended = run;
            run = null;
            ended.complete(null);
        }
    }

    private void done(Throwable cause) {
        if (cause != null) {
            if (run != null) {
                run.completeExceptionally(cause);
                run = null;
            }
            return;
        }
        if (window == 1) {
            Durations.record(histogram, System.nanoTime() - startedAt);
        }
        done++;
        if (!beginning) {
            begin();
        }
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
        target.release();
    }
}
