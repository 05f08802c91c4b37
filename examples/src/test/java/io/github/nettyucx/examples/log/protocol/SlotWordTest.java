// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A consumer that does not look for long does not take a later segment for the one that it knows. */
class SlotWordTest {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 32_767, 32_768, Integer.MAX_VALUE, Integer.MIN_VALUE, -1})
    void tellsGenerationsApart(int generation) {
        for (var sealed : new boolean[] {false, true}) {
            var word = SlotWord.of(generation, 1 << 30, sealed);
            assertTrue(SlotWord.isOf(generation, word));
            assertEquals(1 << 30, SlotWord.readable(word));
            for (var bit = 0; bit < 31; bit++) {
                var later = 1 << bit;
                assertFalse(SlotWord.isOf(generation + later, word), () -> "later by " + later);
            }
        }
    }
}
