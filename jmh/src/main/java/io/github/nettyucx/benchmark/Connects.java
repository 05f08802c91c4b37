// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.netty.channel.ChannelFuture;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.SynchronizedHistogram;

/** Makes connections and closes them, some at the same time; the duration is that until the connection is active. */
final class Connects {
    private static final int TRIAL = 400;
    private static final int WARMUP = 10;
    /**
     * The kernel keeps the port of a closed connection for a minute, and has 28,000; but over loopback it gives one out again
     * after a second (ip-sysctl, {@code tcp_tw_reuse}). So many are made until the code has been compiled.
     */
    private static final long MOST_TRIED = 80_000;
    private static final long MOST = 20_000;
    private static final long STALL_SECONDS = 60;

    private final BenchmarkClient client;
    private final Scenario scenario;
    private final AtomicReference<String> lane = new AtomicReference<>("none");

    Connects(BenchmarkClient client) {
        this.client = client;
        scenario = client.scenario();
    }

    ClientResult measure() throws InterruptedException {
        var operations = scenario.operations() > 0 ? scenario.operations() * scenario.connections()
                : Math.clamp(fittingIntoTheTime(), TRIAL, MOST);
        run(Math.ceilDiv(operations, WARMUP), new SynchronizedHistogram(Durations.newHistogram()));
        var histogram = new SynchronizedHistogram(Durations.newHistogram());
        client.awaitStart();
        var before = client.state();
        var seconds = run(operations, histogram) / 1e9;
        var after = client.end();
        var figures = new EnumMap<Metric, Double>(Map.of(Metric.RATE, operations / seconds));
        figures.putAll(Durations.figures(histogram));
        return new ClientResult(new Sample(lane.get(), client.software(), operations, seconds, figures,
                Durations.percentiles(histogram), Durations.encode(histogram)), before, after);
    }

    /** Tries for as long as {@link Calibration} does, or until many of the ports are used. */
    private long fittingIntoTheTime() throws InterruptedException {
        return Calibration.fittingOnceCompiled(scenario.seconds(), client.compilers(),
                operations -> run(operations, new SynchronizedHistogram(Durations.newHistogram())), TRIAL, 0, MOST_TRIED);
    }

    private long run(long operations, AbstractHistogram histogram) throws InterruptedException {
        var batch = new Batch(operations, histogram);
        var begin = System.nanoTime();
        for (var i = 0; i < Math.min(operations, scenario.connections()); i++) {
            batch.connectNext();
        }
        batch.await();
        var nanos = System.nanoTime() - begin;
        if (batch.failure.get() != null) {
            throw new ExampleFailure("cannot connect: " + Explanation.of(batch.failure.get()), batch.failure.get());
        }
        return nanos;
    }

    private final class Batch {
        private final AtomicLong unstarted;
        private final AtomicLong unfinished;
        private final AbstractHistogram histogram;
        private final CountDownLatch done = new CountDownLatch(1);
        private final AtomicReference<Throwable> failure = new AtomicReference<>();

        Batch(long operations, AbstractHistogram histogram) {
            unstarted = new AtomicLong(operations);
            unfinished = new AtomicLong(operations);
            this.histogram = histogram;
        }

        /** Gives up when none is made and closed any more. */
        void await() throws InterruptedException {
            var before = unfinished.get();
            while (!done.await(STALL_SECONDS, TimeUnit.SECONDS)) {
                var now = unfinished.get();
                if (now == before) {
                    throw new ExampleFailure("no connection was made and closed for " + STALL_SECONDS + " s; " + now
                            + " were left");
                }
                before = now;
            }
        }

        void connectNext() {
            if (unstarted.getAndDecrement() <= 0) {
                return;
            }
            var begin = System.nanoTime();
            client.connect(new ClientHandler()).addListener((ChannelFuture connecting) -> {
                if (!connecting.isSuccess()) {
                    failure.compareAndSet(null, connecting.cause());
                    done.countDown();
                    return;
                }
                Durations.record(histogram, System.nanoTime() - begin);
                lane.set(client.lane(connecting.channel()));
                connecting.channel().close().addListener(_ -> closed());
            });
        }

        private void closed() {
            if (unfinished.decrementAndGet() == 0) {
                done.countDown();
            } else {
                connectNext();
            }
        }
    }
}
