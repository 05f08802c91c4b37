// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Test;

/**
 * A loop's turns and its sleep, with other threads and UCX in between at every point where they could be.
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
        long sleeps = 0;
        long start = System.nanoTime();
        for (long seed = 1; seed <= SEEDS; seed++) {
            try {
                SeededWait wait = new SeededWait(seed, false);
                wait.run();
                sleeps += wait.sleeps();
            } catch (Throwable t) {
                throw new AssertionError("seed " + seed + " (try it alone with -Dio.github.nettyucx.test.seed=" + seed
                        + "): " + t.getMessage(), t);
            }
        }
        System.out.println(SEEDS + " seeds, " + sleeps + " sleeps in "
                + (System.nanoTime() - start) / 1_000_000 + " ms");
    }
}
