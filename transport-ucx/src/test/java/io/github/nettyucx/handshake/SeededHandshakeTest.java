// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Handshakes in whatever order: both sides agree or both fail, and nothing is left behind. Half of the seeds are the
 * same each time, the others new.
 * <p>
 * {@code -Dio.github.nettyucx.test.seeds=1000000} tries more of them, and {@code -Dio.github.nettyucx.test.seed=N}
 * a single one, telling what it has come across.
 */
class SeededHandshakeTest {

    private static final int SEEDS = Integer.getInteger("io.github.nettyucx.test.seeds", 5_000);
    private static final String PROPERTY = "io.github.nettyucx.test.seed";
    private static final Long SEED = Long.getLong(PROPERTY);

    @Test
    void agreesWithSeedsThatAreAlwaysTheSame() {
        if (SEED != null) {
            System.out.println(run(SEED, 1));
            return;
        }
        Map<SeededWorld.Sight, Integer> seen = run(0, SEEDS / 2);
        for (SeededWorld.Sight sight : SeededWorld.Sight.values()) {
            assertTrue(seen.getOrDefault(sight, 0) >= SEEDS / 2_000, () -> "too little of " + sight + ": " + seen);
        }
    }

    @Test
    void agreesWithNewSeeds() {
        assumeTrue(SEED == null, "a single seed was asked for");
        run(new SplittableRandom().nextLong(1L << 48), SEEDS - SEEDS / 2);
    }

    private static Map<SeededWorld.Sight, Integer> run(long base, int count) {
        long start = System.nanoTime();
        Map<SeededWorld.Sight, Integer> seen = SeededWorld.sights();
        for (long seed = base; seed < base + count; seed++) {
            long before = UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
            try {
                new SeededWorld(seed, seen).run();
                assertEquals(before, UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory(), "a buffer leaks");
            } catch (Throwable t) {
                throw new AssertionError("seed " + seed + " (try it alone with -D" + PROPERTY + '=' + seed + "): "
                        + t.getMessage(), t);
            }
        }
        System.out.println(count + " seeds from " + base + " on in " + (System.nanoTime() - start) / 1_000_000 + " ms");
        return seen;
    }
}
