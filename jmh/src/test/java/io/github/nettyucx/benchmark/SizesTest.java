// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SizesTest {
    @Test
    void aRangeIsItsPowersOfTwo() {
        assertEquals(List.of(1, 2, 4, 8), Sizes.parse("1..8").bytes());
        assertEquals(List.of(4, 8), Sizes.parse("3..15").bytes());
        assertEquals(21, Sizes.parse("1..1m").bytes().size());
    }

    @Test
    void aListMayMixRangesAndSizes() {
        assertEquals(List.of(16, 1024, 2048, 1500),
                Sizes.flatten(List.of(Sizes.parse("16"), Sizes.parse("1k..2k"), Sizes.parse("1500"), Sizes.parse("16"))));
    }

    @ParameterizedTest
    @CsvSource({"8..1, smaller size first", "5..7, no power of two", "x..8, is not a size", "0, out of range"})
    void saysWhatIsWrong(String text, String reason) {
        var message = assertThrows(IllegalArgumentException.class, () -> Sizes.parse(text)).getMessage();
        assertTrue(message.contains(reason), message);
    }
}
