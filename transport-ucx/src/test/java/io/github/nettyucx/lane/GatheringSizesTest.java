// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What is copied together has to fit into what it is copied into. */
class GatheringSizesTest {

    @Test
    void whatFitsIsTaken() {
        assertEquals(1, Gathering.checkedZeroCopyMin(1, 4096));
        assertEquals(4096, Gathering.checkedZeroCopyMin(4096, 4096));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 4097, 8192})
    void whatDoesNotIsRefusedWithBothSizes(int bytes) {
        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class,
                () -> Gathering.checkedZeroCopyMin(bytes, 4096));
        assertTrue(refusal.getMessage().startsWith("io.github.nettyucx.zeroCopyMin: " + bytes), refusal::getMessage);
        assertTrue(refusal.getMessage().contains("1 to 4096 bytes"), refusal::getMessage);
        assertTrue(refusal.getMessage().contains("io.github.nettyucx.sendBufferSize"), refusal::getMessage);
    }
}
