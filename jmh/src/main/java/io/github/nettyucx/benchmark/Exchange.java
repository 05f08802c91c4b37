// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.AbstractHistogram;

/** Latency and throughput: all active connections do the same, each so many times. */
final class Exchange {
    /** A connection is tried for at least this share of a measurement's time, to learn how many operations fit. */
    private static final double TRIAL = 0.4;
    /** Of the time of a measurement: how long is tried at least, and how long at most until the compiler rests. */
    static final int COMPILED_AFTER = 2;
    private static final int COMPILED_BEFORE = 8;
    /** The compiler rests when it has taken less than this share of the time, in this process, of a processor's time. */
    private static final double RESTS = 0.02;
    private static final int LARGEST_STEP = 16;
    /** This part of the measured operations is made before, without being measured. */
    private static final int WARMUP = 10;

    private static final CompilationMXBean COMPILATION = ManagementFactory.getCompilationMXBean();

    private final BenchmarkClient client;
    private final Scenario scenario;

    Exchange(BenchmarkClient client) {
        this.client = client;
        scenario = client.scenario();
    }

    ClientResult measure() throws InterruptedException {
        client.connectUpTo(scenario.connections());
        var active = client.handlers().subList(0, scenario.active());
        var operations = scenario.operations() > 0 ? scenario.operations() : calibrate(active);
        client.runAll(active, phase(Math.ceilDiv(operations, WARMUP)), null);
        var histograms = new ArrayList<AbstractHistogram>();
        active.forEach(_ -> histograms.add(Durations.newHistogram()));
        client.awaitStart();

        var before = client.state();
        var nanos = client.runAll(active, phase(operations), histograms);
        var after = client.state();
        return new ClientResult(sample(operations * active.size(), nanos / 1e9, histograms), before, after);
    }

    /** How many operations fit into the time. What is tried for that also has the code compiled. */
    private long calibrate(List<ClientHandler> active) throws InterruptedException {
        var enough = TimeUnit.SECONDS.toNanos(1) * scenario.seconds() * TRIAL;
        var operations = 1L;
        var nanos = client.runAll(active, phase(operations), null);
        var spent = nanos;
        while (nanos < enough && spent < 3 * enough) {
            operations *= (long) Math.clamp(Math.ceil(enough / nanos), 2, LARGEST_STEP);
            nanos = client.runAll(active, phase(operations), null);
            spent += nanos;
        }
        // On a processor that the compiler has to share it would be the compiler that is measured.
        var second = TimeUnit.SECONDS.toNanos(1) * scenario.seconds();
        var rests = false;
        while (spent < COMPILED_AFTER * second || !rests && spent < COMPILED_BEFORE * second) {
            var compiled = COMPILATION.getTotalCompilationTime();
            nanos = client.runAll(active, phase(operations), null);
            spent += nanos;
            var compiling = TimeUnit.MILLISECONDS.toNanos(COMPILATION.getTotalCompilationTime() - compiled);
            rests = compiling < RESTS * nanos;
        }
        return Math.max(1, Math.round(operations * scenario.seconds() * 1e9 / nanos));
    }

    private Phase phase(long operations) {
        var kind = switch (scenario.work()) {
            case LATENCY -> Phase.Kind.ECHO;
            case THROUGHPUT -> Phase.Kind.TO_SERVER;
            case BIDIRECTIONAL -> Phase.Kind.BOTH_WAYS;
            default -> throw new IllegalStateException(scenario.work() + " is no exchange");
        };
        return new Phase(kind, scenario.size(), scenario.flush(), operations);
    }

    private Sample sample(long operations, double seconds, List<AbstractHistogram> histograms) {
        var messages = scenario.work() == Work.BIDIRECTIONAL ? 2 * operations : operations;
        var figures = new EnumMap<Metric, Double>(Map.of(Metric.RATE, messages / seconds));
        if (scenario.work() == Work.LATENCY) {
            var merged = Durations.merge(histograms);
            figures.putAll(Durations.figures(merged));
            return new Sample(client.lanes(), client.software(), messages, seconds, figures,
                    Durations.percentiles(merged), Durations.encode(merged));
        }
        figures.put(Metric.BANDWIDTH, messages / seconds * scenario.size() / 1e9);
        return new Sample(client.lanes(), client.software(), messages, seconds, figures, null, null);
    }
}
