// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;

import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Handshakes in whatever order: both sides agree or both fail, and nothing is left behind. Half of the seeds are the
 * same each time, the others new; {@code -Dio.github.nettyucx.test.seed=N} begins the new ones with N.
 */
class SeededHandshakeTest {

    private static final int SEEDS = 5_000;
    private static final String PROPERTY = "io.github.nettyucx.test.seed";

    @Test
    void agreesWithSeedsThatAreAlwaysTheSame() {
        Map<SeededWorld.Sight, Integer> seen = run(0);
        for (SeededWorld.Sight sight : SeededWorld.Sight.values()) {
            assertTrue(seen.getOrDefault(sight, 0) >= 5, () -> "too little of " + sight + ": " + seen);
        }
    }

    @Test
    void agreesWithNewSeeds() {
        long base = Long.getLong(PROPERTY, System.nanoTime() >>> 8 & Integer.MAX_VALUE);
        System.out.println("SeededHandshakeTest: new seeds from " + base + " on (-D" + PROPERTY + '=' + base + ')');
        run(base);
    }

    private static Map<SeededWorld.Sight, Integer> run(long base) {
        Map<SeededWorld.Sight, Integer> seen = SeededWorld.sights();
        for (long seed = base; seed < base + SEEDS; seed++) {
            long before = UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
            try {
                new SeededWorld(seed, seen).run();
                assertEquals(before, UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory(), "a buffer leaks");
            } catch (Throwable t) {
                throw new AssertionError("seed " + seed + " (-D" + PROPERTY + '=' + seed + "): " + t.getMessage(), t);
            }
        }
        return seen;
    }
}
