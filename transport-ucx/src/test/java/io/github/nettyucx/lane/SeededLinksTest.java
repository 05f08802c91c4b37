// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;

import java.util.EnumMap;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Loops that share links, lose them and make them anew, in whatever order: nothing of UCX is used after it is gone, and
 * nothing is kept for ever. Half of the seeds are the same each time, the others new;
 * {@code -Dio.github.nettyucx.test.seed=N} begins the new ones with N.
 */
class SeededLinksTest {

    private static final int SEEDS = 5_000;
    private static final int LEAST = 20;
    private static final String PROPERTY = "io.github.nettyucx.test.seed";

    @Test
    void nothingIsUsedAfterItIsGoneWithSeedsThatAreAlwaysTheSame() {
        Map<LinkWorld.Sight, Integer> seen = run(0);
        System.out.println(seen);
        for (LinkWorld.Sight sight : LinkWorld.Sight.values()) {
            assertTrue(seen.getOrDefault(sight, 0) >= LEAST, () -> "too little of " + sight + ": " + seen);
        }
    }

    @Test
    void nothingIsUsedAfterItIsGoneWithNewSeeds() {
        long base = Long.getLong(PROPERTY, System.nanoTime() >>> 8 & Integer.MAX_VALUE);
        System.out.println("SeededLinksTest: new seeds from " + base + " on (-D" + PROPERTY + '=' + base + ')');
        run(base);
    }

    private static Map<LinkWorld.Sight, Integer> run(long base) {
        Map<LinkWorld.Sight, Integer> seen = new EnumMap<>(LinkWorld.Sight.class);
        for (long seed = base; seed < base + SEEDS; seed++) {
            long before = UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
            try {
                new LinkWorld(seed, seen).run();
                assertEquals(before, UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory(), "a buffer leaks");
            } catch (Throwable t) {
                throw new AssertionError("seed " + seed + " (-D" + PROPERTY + '=' + seed + "): " + t.getMessage(), t);
            }
        }
        return seen;
    }
}
