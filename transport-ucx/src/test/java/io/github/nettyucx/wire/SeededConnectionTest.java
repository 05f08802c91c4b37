// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Connections over a link that does whatever UCX may do, in thousands of different ways: one half of them the same in
 * each run, the other half new ones.
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
        Map<String, Integer> seen = run(1, SEEDS / 2);
        System.out.println(seen);
        // Runs in which nothing of that comes about would show nothing about it.
        seen.forEach((what, count) -> assertTrue(count >= SEEDS / 200, () -> what + ": only " + count));
    }

    @Test
    void whateverElseUcxDoes() {
        assumeTrue(SEED == null, "a single seed was asked for");
        run(new SplittableRandom().nextLong(1L << 48), SEEDS - SEEDS / 2);
    }

    /** @return in how many of the runs was what */
    private static Map<String, Integer> run(long base, int count) {
        long start = System.nanoTime();
        Map<String, Integer> seen = new TreeMap<>();
        for (long seed = base; seed < base + count; seed++) {
            try {
                SeededRun run = new SeededRun(seed, false);
                run.run();
                seen.merge("messages before the connection was open", run.hadEarlyMessages() ? 1 : 0, Integer::sum);
                seen.merge("messages after the connection was closed", run.hadLateMessages() ? 1 : 0, Integer::sum);
                seen.merge("orderly ends by the control socket", run.hadEndsBySocket() ? 1 : 0, Integer::sum);
                seen.merge("messages that were counted", run.hadCounts() ? 1 : 0, Integer::sum);
                seen.merge("failures", run.hadFailures() ? 1 : 0, Integer::sum);
                seen.merge("connections that went on beside one that failed", run.hadSurvivors() ? 1 : 0, Integer::sum);
            } catch (Throwable t) {
                throw new AssertionError("seed " + seed + " (try it alone with -Dio.github.nettyucx.test.seed=" + seed
                        + "): " + t.getMessage(), t);
            }
        }
        System.out.println(count + " seeds from " + base + " on in " + (System.nanoTime() - start) / 1_000_000 + " ms");
        return seen;
    }
}
