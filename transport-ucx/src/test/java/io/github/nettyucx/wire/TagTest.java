// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

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
