// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;

import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Loops that share links, lose them and make them anew, in whatever order, also while operations are in flight: nothing
 * of UCX is used after it is gone, no memory is given back before UCX is done with it, and nothing is kept for ever.
 * Half of the seeds are the same each time, the others new.
 * <p>
 * {@code -Dio.github.nettyucx.test.seeds=1000000} tries more of them, and {@code -Dio.github.nettyucx.test.seed=N}
 * a single one, telling what happens.
 */
class SeededLinksTest {

    private static final int SEEDS = Integer.getInteger("io.github.nettyucx.test.seeds", 10_000);
    private static final String PROPERTY = "io.github.nettyucx.test.seed";
    private static final Long SEED = Long.getLong(PROPERTY);

    @Test
    void nothingIsUsedAfterItIsGoneWithSeedsThatAreAlwaysTheSame() {
        if (SEED != null) {
            System.out.println(run(SEED, 1));
            return;
        }
        Map<LinkWorld.Sight, Integer> seen = run(0, SEEDS / 2);
        System.out.println(seen);
        for (LinkWorld.Sight sight : LinkWorld.Sight.values()) {
            assertTrue(seen.getOrDefault(sight, 0) >= SEEDS / 500, () -> "too little of " + sight + ": " + seen);
        }
    }

    @Test
    void nothingIsUsedAfterItIsGoneWithNewSeeds() {
        assumeTrue(SEED == null, "a single seed was asked for");
        run(new SplittableRandom().nextLong(1L << 48), SEEDS - SEEDS / 2);
    }

    private static Map<LinkWorld.Sight, Integer> run(long base, int count) {
        long start = System.nanoTime();
        Map<LinkWorld.Sight, Integer> seen = new EnumMap<>(LinkWorld.Sight.class);
        for (long seed = base; seed < base + count; seed++) {
            long before = UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
            try {
                new LinkWorld(seed, seen, SEED != null).run();
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
