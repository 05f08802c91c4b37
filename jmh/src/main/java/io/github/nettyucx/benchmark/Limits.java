// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

/**
 * How long is waited for what measures: longer than a scenario takes on a slow and busy machine, for a row that is given up
 * has cost its time for nothing. A standstill is noticed earlier, by most clients.
 */
final class Limits {
    /** Until a process has started, or until it says what it knows already. */
    static final long START_SECONDS = 60;
    /** For what takes its time whatever the scenario says. */
    private static final long MORE_SECONDS = 120;
    /** At least so many are made in a second. */
    private static final double CONNECTIONS = 50;
    /** Times of a measurement. Each try may be over a good deal later than it should, and there is a warm-up. */
    private static final int TRIED = Calibration.COMPILED_BEFORE + 10;
    /** A measurement may take so many times as long as it should. */
    private static final int LATE = 10;
    /** Two processes that look for messages on the same processor wait for a turn of the scheduler's each time. */
    private static final double OPERATION_SECONDS = 0.02;
    /** What is sent in a second at least. */
    private static final double BYTES = 10e6;

    private Limits() {
    }

    /** Until a client that has been started is connected and warm, in seconds. */
    static long ready(Scenario scenario) {
        return START_SECONDS + seconds(scenario, TRIED);
    }

    /** Until what has begun has been measured, in seconds. */
    static long measured(Scenario scenario) {
        return seconds(scenario, LATE);
    }

    private static long seconds(Scenario scenario, int times) {
        var taken = scenario.operations() == 0 ? times * scenario.seconds()
                : (double) scenario.operations() * scenario.active() * (OPERATION_SECONDS + scenario.size() / BYTES);
        return (long) Math.ceil(MORE_SECONDS + scenario.connections() / CONNECTIONS + taken);
    }
}
