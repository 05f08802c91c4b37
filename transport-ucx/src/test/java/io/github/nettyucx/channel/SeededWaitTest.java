// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A loop's turns and its sleep, with other threads and UCX in between at every point where they could be: one half of the
 * seeds the same in each run, the other half new ones.
 * <p>
 * {@code -Dio.github.nettyucx.test.seeds=1000000} tries more of them, and {@code -Dio.github.nettyucx.test.seed=N}
 * a single one, telling everything that happens.
 */
class SeededWaitTest {

    private static final int SEEDS = Integer.getInteger("io.github.nettyucx.test.seeds", 10_000);
    private static final Long SEED = Long.getLong("io.github.nettyucx.test.seed");

    @Test
    void nothingIsSleptThrough() {
        if (SEED != null) {
            new SeededWait(SEED, true).run();
            return;
        }
        run(1, SEEDS / 2);
    }

    @Test
    void nothingElseIsSleptThrough() {
        assumeTrue(SEED == null, "a single seed was asked for");
        run(new SplittableRandom().nextLong(1L << 48), SEEDS - SEEDS / 2);
    }

    private static void run(long base, int count) {
        long sleeps = 0;
        long start = System.nanoTime();
        for (long seed = base; seed < base + count; seed++) {
            try {
                SeededWait wait = new SeededWait(seed, false);
                wait.run();
                sleeps += wait.sleeps();
            } catch (Throwable t) {
                throw new AssertionError("seed " + seed + " (try it alone with -Dio.github.nettyucx.test.seed=" + seed
                        + "): " + t.getMessage(), t);
            }
        }
        System.out.println(count + " seeds from " + base + " on, " + sleeps + " sleeps in "
                + (System.nanoTime() - start) / 1_000_000 + " ms");
        // Runs that never sleep would show nothing.
        assertTrue(sleeps >= count, "only " + sleeps + " sleeps");
    }
}
