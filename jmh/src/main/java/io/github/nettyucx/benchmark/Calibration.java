// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.concurrent.TimeUnit;

/** Finds out how many operations fit into the time of a measurement. What is tried for that also has the code compiled. */
final class Calibration {
    /** It is tried for at least this share of a measurement's time, to learn how many operations fit. */
    private static final double TRIAL = 0.4;
    /** Of the time of a measurement: how long is tried at least, and how long at most until the compilers rest. */
    static final int COMPILED_AFTER = 2;
    static final int COMPILED_BEFORE = 20;
    /** The compilers rest when both processes' have taken less than this share of a processor, for that long. */
    static final double RESTS = 0.03;
    static final double RESTS_FOR = 0.5;
    /** What still gets faster by as much from one such time to the next is not compiled, whatever the compilers do. */
    static final double FASTER = 1.1;
    private static final int LARGEST_STEP = 16;
    /** This part of the measured operations is made before, without being measured. */
    private static final int WARMUP = 10;

    /**
     * What is tried, in the same way as it is measured, and with new histograms: the JIT compiles branches that were taken, and
     * has to compile again when another one is.
     */
    interface Trial {
        /** @return how long it took, in nanoseconds */
        long run(long operations) throws InterruptedException;
    }

    private Calibration() {
    }

    /**
     * How many operations are to be measured. Everything is compiled and warm then.
     *
     * @param compilers of both processes
     */
    static long warmUp(Scenario scenario, Compilers compilers, Trial trial) throws InterruptedException {
        var operations = scenario.operations() > 0 ? scenario.operations()
                : fittingIntoTheTime(scenario.seconds(), compilers, trial);
        trial.run(Math.ceilDiv(operations, WARMUP));
        return operations;
    }

    private static long fittingIntoTheTime(double seconds, Compilers compilers, Trial trial)
            throws InterruptedException {
        var second = TimeUnit.SECONDS.toNanos(1) * seconds;
        var enough = second * TRIAL;
        var operations = 1L;
        var nanos = trial.run(operations);
        var spent = nanos;
        while (nanos < enough && spent < 3 * enough) {
            operations *= (long) Math.clamp(Math.ceil(enough / nanos), 2, LARGEST_STEP);
            nanos = trial.run(operations);
            spent += nanos;
        }
        return fittingOnceCompiled(seconds, compilers, trial, operations, spent, Long.MAX_VALUE);
    }

    /**
     * How many operations fit into the time of a measurement. On a processor that the compiler has to share it would be the
     * compiler that is measured.
     *
     * @param operations of one trial
     * @param spent with trials so far, in nanoseconds
     * @param most so many operations are tried at most, and no more than those of one trial beyond it
     */
    static long fittingOnceCompiled(double seconds, Compilers compilers, Trial trial, long operations, long spent, long most)
            throws InterruptedException {
        var second = TimeUnit.SECONDS.toNanos(1) * seconds;
        boolean rest;
        boolean settled;
        long times;
        long nanos;
        var tried = 0L;
        var tryingNanos = spent;
        var rate = 0.0;
        do {
            var compiled = compilers.nanos();
            times = 0;
            nanos = 0;
            do {
                nanos += trial.run(operations);
                times++;
                tried += operations;
            } while (nanos < RESTS_FOR * second && tried < most);
            tryingNanos += nanos;
            rest = compilers.nanos() - compiled < RESTS * nanos;
            var before = rate;
            rate = (double) times * operations / nanos;
            settled = rate < FASTER * before;
        } while (tried < most && (tryingNanos < COMPILED_AFTER * second
                || !(rest && settled) && tryingNanos < COMPILED_BEFORE * second));
        return Math.max(1, Math.round(times * operations * second / nanos));
    }
}
