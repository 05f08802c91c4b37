// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import java.util.Locale;
import java.util.SplittableRandom;

/**
 * How much of the faults is run: a short selection in every build, all of it in the Maven profile {@code faults}. What
 * happens follows from a seed, which each scenario prints; {@code -Dio.github.nettyucx.test.seed} repeats it.
 */
final class Faults {

    static final boolean FULL = System.getProperty("io.github.nettyucx.test.faults", "short").equals("full");

    private static final Long SEED = Long.getLong("io.github.nettyucx.test.seed");

    private Faults() {
    }

    static int times(int shortly, int fully) {
        return FULL ? fully : shortly;
    }

    static long newSeed() {
        return SEED != null ? SEED : new SplittableRandom().nextLong() >>> 1;
    }

    /** One line of the output that says what a scenario did. */
    static void report(String format, Object... arguments) {
        System.out.println("FAULTS " + String.format(Locale.ROOT, format, arguments));
    }

    /** Fails a scenario, with what is needed to repeat it. */
    static AssertionError failure(String scenario, long seed, Throwable cause) {
        return new AssertionError(scenario + " failed with -Dio.github.nettyucx.test.seed=" + seed + ": "
                + cause.getMessage(), cause);
    }

    static double millis(long nanos) {
        return nanos / 1e6;
    }
}
