// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import org.junit.jupiter.api.Test;

/**
 * Two connections over a UCX that does whatever it may do, in thousands of different ways.
 * <p>
 * {@code -Dio.github.nettyucx.test.seeds=1000000} tries more of them, and {@code -Dio.github.nettyucx.test.seed=N}
 * a single one, telling everything that happens.
 */
class SeededConnectionTest {

    private static final int SEEDS = Integer.getInteger("io.github.nettyucx.test.seeds", 10_000);
    private static final Long SEED = Long.getLong("io.github.nettyucx.test.seed");

    @Test
    void whateverUcxDoes() {
        if (SEED != null) {
            new SeededRun(SEED, true).run();
            return;
        }
        long start = System.nanoTime();
        for (long seed = 1; seed <= SEEDS; seed++) {
            try {
                new SeededRun(seed, false).run();
            } catch (Throwable t) {
                throw new AssertionError("seed " + seed + " (try it alone with -Dio.github.nettyucx.test.seed=" + seed
                        + "): " + t.getMessage(), t);
            }
        }
        System.out.println(SEEDS + " seeds in " + (System.nanoTime() - start) / 1_000_000 + " ms");
    }
}
