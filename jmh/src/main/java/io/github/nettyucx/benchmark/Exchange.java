// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.AbstractHistogram;

/** Latency and throughput: all active connections do the same, each so many times; beside many others or alone. */
final class Exchange {
    /** A connection is tried for at least this share of a measurement's time, to learn how many operations fit. */
    private static final double TRIAL = 0.4;
    /** Of the time of a measurement: how long is tried at least, and how long at most until the compilers rest. */
    static final int COMPILED_AFTER = 2;
    static final int COMPILED_BEFORE = 20;
    /** The compilers rest when both processes' have taken less than this share of a processor, for that long. */
    static final double RESTS = 0.03;
    private static final double RESTS_FOR = 0.5;
    private static final int LARGEST_STEP = 16;
    /** This part of the measured operations is made before, without being measured. */
    private static final int WARMUP = 10;

    private final BenchmarkClient client;
    private final Scenario scenario;

    Exchange(BenchmarkClient client) {
        this.client = client;
        scenario = client.scenario();
    }

    ClientResult measure() throws InterruptedException {
        client.connectUpTo(scenario.connections());
        var active = client.handlers().subList(0, scenario.active());
        if (scenario.work() == Work.MANY) {
            Minutely.start(client.handlers().subList(scenario.active(), scenario.connections()));
        }
        // What is tried takes the same way as what is measured: the JIT compiles branches that were taken.
        var unused = histograms(active);
        var operations = scenario.operations() > 0 ? scenario.operations() : calibrate(active, unused);
        client.runAll(active, phase(Math.ceilDiv(operations, WARMUP)), unused);
        var histograms = histograms(active);
        client.awaitStart();

        var before = client.state();
        var nanos = client.runAll(active, phase(operations), histograms);
        var after = client.state();
        return new ClientResult(sample(operations * active.size(), nanos / 1e9, histograms), before, after);
    }

    private static List<AbstractHistogram> histograms(List<ClientHandler> active) {
        return active.stream().map(_ -> (AbstractHistogram) Durations.newHistogram()).toList();
    }

    /** How many operations fit into the time. What is tried for that also has the code compiled. */
    private long calibrate(List<ClientHandler> active, List<AbstractHistogram> unused) throws InterruptedException {
        var second = TimeUnit.SECONDS.toNanos(1) * scenario.seconds();
        var enough = second * TRIAL;
        var operations = 1L;
        var nanos = client.runAll(active, phase(operations), unused);
        var spent = nanos;
        while (nanos < enough && spent < 3 * enough) {
            operations *= (long) Math.clamp(Math.ceil(enough / nanos), 2, LARGEST_STEP);
            nanos = client.runAll(active, phase(operations), unused);
            spent += nanos;
        }
        // On a processor that the compiler has to share it would be the compiler that is measured.
        boolean rest;
        long times;
        do {
            var compiled = client.compilers().nanos();
            times = 0;
            nanos = 0;
            do {
                nanos += client.runAll(active, phase(operations), unused);
                times++;
            } while (nanos < RESTS_FOR * second);
            spent += nanos;
            rest = client.compilers().nanos() - compiled < RESTS * nanos;
        } while (spent < COMPILED_AFTER * second || !rest && spent < COMPILED_BEFORE * second);
        return Math.max(1, Math.round(times * operations * second / nanos));
    }

    private Phase phase(long operations) {
        var kind = switch (scenario.work()) {
            case LATENCY, MANY -> Phase.Kind.ECHO;
            case THROUGHPUT -> Phase.Kind.TO_SERVER;
            case BIDIRECTIONAL -> Phase.Kind.BOTH_WAYS;
            default -> throw new IllegalStateException(scenario.work() + " is no exchange");
        };
        return new Phase(kind, scenario.size(), scenario.flush(), operations);
    }

    private Sample sample(long operations, double seconds, List<AbstractHistogram> histograms) {
        var messages = scenario.work() == Work.BIDIRECTIONAL ? 2 * operations : operations;
        var figures = new EnumMap<Metric, Double>(Map.of(Metric.RATE, messages / seconds));
        if (scenario.work().isOfRoundTrips()) {
            var merged = Durations.merge(histograms);
            figures.putAll(Durations.figures(merged));
            return new Sample(client.lanes(), client.software(), messages, seconds, figures,
                    Durations.percentiles(merged), Durations.encode(merged));
        }
        figures.put(Metric.BANDWIDTH, messages / seconds * scenario.size() / 1e9);
        return new Sample(client.lanes(), client.software(), messages, seconds, figures, null, null);
    }
}
