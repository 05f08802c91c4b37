// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Lane;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Tells a machine's bad minutes from its good ones: what a round trip of 16 bytes takes plain UCX over shared memory,
 * looked at between any two measurements. What is measured while that takes longer than {@value #TOLERANCE} times what it takes
 * in a good minute says nothing about what was measured.
 */
final class Gauge {
    static final double TOLERANCE = 1.5;
    /** So often at first: the best is not known before. */
    private static final int FIRST = 5;
    /** That share of the readings is better than a good one: a reading may be too good once in a while. */
    private static final int LUCKY = 10;
    private static final int SIZE = 16;
    private static final long ROUND_TRIPS = 100_000;
    /** A look that takes longer has not been possible. */
    private static final long SECONDS = 60;
    private static final double UNKNOWN = 0;

    /** How long a round trip takes now, in microseconds. */
    interface Reading {
        double take(Interruption interruption) throws InterruptedException;
    }

    private final Reading reading;
    /** Why there is no reading. */
    private final String none;
    private final List<Double> taken = new ArrayList<>();
    private double last = UNKNOWN;
    private boolean begun;
    private int failed;
    private String failure;

    private Gauge(Reading reading, String none) {
        this.reading = reading;
        this.none = none;
    }

    Gauge(Reading reading) {
        this(reading, null);
    }

    /** There is nothing to look at: no minute is known to be bad. */
    static Gauge none(String why) {
        return new Gauge(null, why);
    }

    /**
     * Looks at processors that are measured.
     *
     * @param perftest where UCX is installed, or {@code null}
     * @param rows that are measured
     */
    static Gauge of(Path perftest, List<Row> rows) {
        if (perftest == null) {
            return none("there is no ucx_perftest");
        }
        var allowed = Processors.allowed();
        if (allowed.size() == 1) {
            return none("there is one processor only, and ucx_perftest is two processes that never pause");
        }
        var measured = rows.stream().map(Row::scenario).filter(Scenario::isPinned).findFirst()
                .map(scenario -> new Pinning(scenario.serverCpus(), scenario.clientCpus())).orElse(Pinning.NONE);
        var two = Processors.two(measured, allowed);
        var scenario = new Scenario(Work.LATENCY, SIZE, 1, 1, 1, 1, 0, ROUND_TRIPS, 0, two.server(), two.client());
        var limit = new Perftest(Lane.SHM, perftest);
        return new Gauge(interruption -> limit.measure(scenario, SECONDS, interruption).figures().get(Metric.P50));
    }

    /** Looks. @return the worse one of this reading and the one before: what was measured between them had that */
    double look(Interruption interruption) throws InterruptedException {
        if (reading == null) {
            return UNKNOWN;
        }
        var before = last;
        for (var left = begun ? 1 : FIRST; left > 0; left--) {
            try {
                last = reading.take(interruption);
                taken.add(last);
            } catch (ExampleFailure e) {
                // What cannot be looked at now is not known to be bad.
                last = UNKNOWN;
                failed++;
                failure = e.getMessage();
            }
        }
        begun = true;
        return Math.max(before, last);
    }

    /** Whether there are minutes of which nothing is known. */
    boolean isIncomplete() {
        return taken.isEmpty() || failed > 0;
    }

    /** Why that is so. */
    String reason() {
        if (reading == null) {
            return none;
        }
        return failed == 0 ? "nobody has looked"
                : String.format("ucx_perftest could not be run %d of %d times, at last because of this: %s", failed,
                        failed + taken.size(), failure);
    }

    /** Whether that reading says that others had the processors, as far as is known by now. */
    boolean isSlow(double micros) {
        return micros > TOLERANCE * good();
    }

    /** In a good minute, as far as is known by now, in microseconds; infinite if it was never taken. */
    double good() {
        if (taken.isEmpty()) {
            return Double.POSITIVE_INFINITY;
        }
        return taken.stream().sorted().skip(Math.min(taken.size() - 1, Math.ceilDiv(taken.size(), LUCKY))).findFirst()
                .orElseThrow();
    }
}
