// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** No clock is asked: what is tried says how long it took. */
class CalibrationTest {
    private static final double SLOWEST_NANOS = 10e6;
    private static final double FASTEST_NANOS = 10e3;

    /** Of a process that does not exist: they rest all the time. */
    private final Compilers compilers = new Compilers(0);

    /** Code that is interpreted: it is twice as fast after each half second, and the compilers are not seen. */
    private static final class GetsFaster implements Calibration.Trial {
        private double spent;

        @Override
        public long run(long operations) {
            var nanos = 0.0;
            for (var i = 0L; i < operations; i++) {
                nanos += Math.max(FASTEST_NANOS, SLOWEST_NANOS / Math.pow(2, (spent + nanos) / 0.5e9));
            }
            spent += nanos;
            return Math.round(nanos);
        }
    }

    @Test
    void whatStillGetsFasterIsTriedOn() throws Exception {
        var trial = new GetsFaster();
        var operations = Calibration.warmUp(scenario(0), compilers, trial);
        assertEquals(1e9 / FASTEST_NANOS, operations, 0.05e9 / FASTEST_NANOS);
        assertTrue(trial.spent < 10e9, "it took " + trial.spent / 1e9 + " s");
    }

    /** As connections are tried, of which there can be only so many. */
    @Test
    void whatIsTriedInPartsIsTriedOnAsWell() throws Exception {
        var trial = new GetsFaster();
        var operations = Calibration.fittingOnceCompiled(1, compilers, trial, 400, 0, Long.MAX_VALUE);
        assertEquals(1e9 / FASTEST_NANOS, operations, 0.05e9 / FASTEST_NANOS);
    }

    @Test
    void noMoreAreTriedThanThereMayBe() throws Exception {
        var trial = new GetsFaster();
        var tried = new long[1];
        Calibration.fittingOnceCompiled(1, compilers, operations -> {
            tried[0] += operations;
            return trial.run(operations);
        }, 400, 0, 4000);
        assertEquals(4000, tried[0]);
    }

    @Test
    void whatIsToldIsNotTried() throws Exception {
        var trial = new GetsFaster();
        assertEquals(50, Calibration.warmUp(scenario(50), compilers, trial));
        assertEquals(5 * SLOWEST_NANOS, trial.spent, SLOWEST_NANOS);
    }

    private static Scenario scenario(long operations) {
        return new Scenario(Work.LATENCY, 16, 1, 1, 1, 1, 0, operations, 1, null, null);
    }
}
