// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KernelRandomTest {

    /** A byte stays 0 in 20 draws once in 2 to the power of 160. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 255, 256, 257, 1000})
    void everyByteIsDrawn(int length) {
        byte[] all = new byte[length];
        for (int draw = 0; draw < 20; draw++) {
            byte[] bytes = new byte[length];
            KernelRandom.fill(bytes);
            for (int i = 0; i < length; i++) {
                all[i] |= bytes[i];
            }
        }
        for (int i = 0; i < length; i++) {
            assertTrue(all[i] != 0, "byte " + i + " was never drawn");
        }
    }

    @Test
    void numbersDiffer() {
        Set<Long> longs = new HashSet<>();
        Set<Integer> high = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            longs.add(KernelRandom.nextLong());
            high.add(KernelRandom.nextInt() >>> 24);
        }
        assertEquals(1000, longs.size());
        assertTrue(high.size() > 200, () -> high.size() + " of 256");
    }
}
