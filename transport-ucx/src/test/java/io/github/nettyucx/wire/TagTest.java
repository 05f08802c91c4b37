// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class TagTest {

    @Test
    void putsTheChannelFirstThenTheTypeThenTheValue() {
        assertEquals(0x1234_5678_2_0000abcL, Tag.of(0x1234_5678, Tag.CREDIT, 0xabc));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 0x7fff_ffff, 0x8000_0000, -1})
    void keepsEveryChannelId(int channelId) {
        long tag = Tag.of(channelId, Tag.DATA, Tag.MAX_VALUE);
        assertEquals(channelId, (int) (tag >>> 32));
        assertEquals(Tag.DATA, Tag.type(tag));
        assertEquals(Tag.MAX_VALUE, Tag.value(tag));
    }

    @Test
    void dataTellsItsNumberAndWhatItGrants() {
        long tag = Tag.ofData(-1, 5000, Limits.MAX_WINDOW);
        assertEquals(Tag.DATA, Tag.type(tag));
        assertEquals(-1, (int) (tag >>> 32));
        assertEquals(Limits.MAX_WINDOW, Tag.grant(tag));
        assertTrue(Tag.isNumber(tag, 5000));
        assertTrue(Tag.isNumber(tag, 5000 + 1024), "more bits than the tag has");
        for (int lost : new int[] {1, 2, 31, 256, 512, 1023}) {
            assertFalse(Tag.isNumber(tag, 5000 - lost), () -> "not noticed: " + lost);
        }
        assertEquals(0, Tag.grant(Tag.ofData(1, 1023, 0)));
        assertThrows(AssertionError.class, () -> Tag.ofData(1, 0, 1000));
    }

    @Test
    void finTellsHowMuchThereWasAndWhetherItsSenderReads() {
        for (boolean readsNoMore : new boolean[] {false, true}) {
            long tag = Tag.ofFin(7, -3, readsNoMore);
            assertEquals(Tag.FIN, Tag.type(tag));
            assertEquals(!readsNoMore, Tag.isHalf(tag));
            assertTrue(Tag.isCount(tag, -3));
            assertFalse(Tag.isCount(tag, -4));
            assertFalse(Tag.isCount(tag, -3 - 1024));
        }
    }

    @Test
    void countTellsHowMuchThereWasAndWhetherAllOfItIsThere() {
        for (boolean isWhole : new boolean[] {false, true}) {
            long tag = Tag.ofCount(7, -3, isWhole);
            assertEquals(Tag.COUNT, Tag.type(tag));
            assertEquals(isWhole, Tag.isWhole(tag));
            assertTrue(Tag.isCount(tag, -3));
            assertFalse(Tag.isCount(tag, -3 - 1024));
        }
    }

    @Test
    void readsTypesThatDoNotExist() {
        assertEquals(15, Tag.type(Tag.of(-1, 15, 0)));
        assertEquals(0, Tag.type(Tag.of(-1, 0, Tag.MAX_VALUE)));
    }

    @Test
    void hasRoomForAGrantOfTheLargestWindow() {
        assertEquals(Limits.MAX_WINDOW, Tag.value(Tag.of(1, Tag.CREDIT, Limits.MAX_WINDOW)));
    }

    @Test
    void refusesValuesThatWouldRunIntoTheType() {
        assertThrows(AssertionError.class, () -> Tag.of(1, Tag.DATA, Tag.MAX_VALUE + 1));
        assertThrows(AssertionError.class, () -> Tag.of(1, Tag.DATA, -1));
    }
}
