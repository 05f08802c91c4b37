// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ReassemblyTest {

    private static final int TYPE = 7;
    private static final int MAX_MESSAGE = 1000;

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
    private final List<String> messages = new ArrayList<>();
    private final Reassembly reassembly = new Reassembly(allocator, MAX_MESSAGE,
            (kind, type, buffer, begin, end) -> messages.add(kind + " " + type + " " + (end - begin)));

    @AfterEach
    void nothingIsLeft() {
        reassembly.close();
        assertEquals(0, allocator.metric().usedDirectMemory());
    }

    private void fragment(long number, int total, boolean first, int length, long position) {
        fragment(reassembly, number, total, first, length, position);
    }

    private void fragment(Reassembly to, long number, int total, boolean first, int length, long position) {
        ByteBuf frame = allocator.directBuffer();
        try {
            frame.writeLongLE(number).writeIntLE(total).writeIntLE(first ? Frame.MESSAGE | Fragments.FIRST : Frame.MESSAGE)
                    .writeZero(length);
            to.fragment(TYPE, frame, 0, frame.writerIndex(), position);
        } finally {
            frame.release();
        }
    }

    @Test
    void aMessageIsThereWhenItsLastFragmentHasCome() {
        fragment(1, 30, true, 10, 100);
        fragment(2, 20, true, 10, 200);
        assertEquals(100, reassembly.complete(300));
        fragment(1, 30, false, 20, 300);
        assertEquals(List.of(Frame.MESSAGE + " " + TYPE + " 30"), messages);
        assertEquals(200, reassembly.complete(400));
        reassembly.abort(2);
        assertEquals(400, reassembly.complete(400));
    }

    /** Its first fragments were lost with the connection before. It must not keep the others from being acknowledged. */
    @Test
    void theRestOfAMessageThatBeganOnAnotherConnectionIsThrownAway() {
        fragment(1, 30, false, 10, 0);
        fragment(1, 30, false, 10, 100);
        assertEquals(200, reassembly.complete(200));
        reassembly.abort(1);
        assertEquals(List.of(), messages);
    }

    /** Growing copies. But what has only been announced must not take memory without a limit. */
    @Test
    void aMessageHasItsMemoryAtOnceAsLongAsNotTooMuchIsAnnounced() {
        int total = 1024 * 1024;
        int full = Reassembly.MAX_AHEAD / total;
        int more = 10;
        var large = new Reassembly(allocator, total, (kind, type, buffer, begin, end) -> messages.add("" + (end - begin)));
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < full + more; i++) {
                fragment(large, i, total, true, 10, 0);
            }
            assertEquals(full * total + more * Reassembly.FIRST_PART, allocator.metric().usedDirectMemory());
            fragment(large, 0, total, false, total - 10, 0);
            assertEquals(round + 1, messages.size());
            large.abort(1);
            // What they had others may have.
            fragment(large, 0, total, true, 10, 0);
            fragment(large, 1, total, true, 10, 0);
            assertEquals(full * total + more * Reassembly.FIRST_PART, allocator.metric().usedDirectMemory());
            large.close();
            assertEquals(0, allocator.metric().usedDirectMemory());
        }
    }

    /** What has come is copied when it grows, and not for each part. */
    @Test
    void aMessageThatIsAnnouncedBesideHasLittleMoreThanHasCome() {
        int total = 64 * 1024 * 1024;
        int most = 4 * 1024 * 1024;
        int part = 60_000;
        var large = new Reassembly(allocator, total, (kind, type, buffer, begin, end) -> messages.add("" + (end - begin)));
        fragment(large, 1, Reassembly.MAX_AHEAD, true, 10, 0);
        assertEquals(Reassembly.MAX_AHEAD, allocator.metric().usedDirectMemory());
        for (int come = part; come < 4 * most; come += part) {
            fragment(large, 2, total, come == part, part, 0);
            long beyond = allocator.metric().usedDirectMemory() - Reassembly.MAX_AHEAD - come;
            int bound = Math.max(Reassembly.FIRST_PART, Math.min(come, most));
            assertTrue(beyond <= bound, come + " bytes have come, and there is memory for " + beyond + " more");
        }
        large.close();
    }

    @Test
    void thereAreNoMoreThanSoManyAtATime() {
        for (int i = 0; i < Reassembly.MAX_MESSAGES; i++) {
            fragment(i, 30, true, 10, 0);
        }
        assertThrows(IllegalArgumentException.class, () -> fragment(Reassembly.MAX_MESSAGES, 30, true, 10, 0));
        fragment(0, 30, false, 20, 0);
        fragment(Reassembly.MAX_MESSAGES, 30, true, 10, 0);
        assertEquals(1, messages.size());
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> fragment(1, MAX_MESSAGE + 9, true, 10, 0));
        assertThrows(IllegalArgumentException.class, () -> fragment(1, 9, true, 10, 0));
        fragment(2, 30, true, 20, 0);
        assertThrows(IllegalArgumentException.class, () -> fragment(2, 30, false, 20, 100));
    }
}
