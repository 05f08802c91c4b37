// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is written is what was checked, and nothing else is. */
class CommitBufferTest implements Peer {
    private static final int PAYLOAD = 92;
    private static final int LENGTH = PAYLOAD + Records.HEADER;
    private static final int REQUEST = 17;
    private static final long BASE = 1000;

    private final CommitBuffer commits = new CommitBuffer();
    private final List<Message> told = new ArrayList<>();

    @Override
    public void send(Message message) {
        told.add(message);
    }

    @Override
    public void disconnect() {
        throw new AssertionError("sent away");
    }

    private static byte[] payload(int number) {
        var payload = new byte[PAYLOAD];
        payload[0] = (byte) number;
        return payload;
    }

    /** @param damaged one of them; -1: none */
    private static MemorySegment records(int count, int damaged) {
        var all = UnpooledByteBufAllocator.DEFAULT.directBuffer();
        for (var i = 0; i < count; i++) {
            Records.encode(all, payload(i));
        }
        if (damaged >= 0) {
            all.setByte((damaged + 1) * LENGTH - 1, 99);
        }
        var memory = Arena.ofAuto().allocate(all.readableBytes());
        memory.copyFrom(MemorySegment.ofBuffer(all.nioBuffer()));
        all.release();
        return memory;
    }

    private static ByteBuffer copyOf(MemorySegment records, int count) {
        return ByteBuffer.wrap(records.asSlice(0, (long) count * LENGTH).toArray(ValueLayout.JAVA_BYTE));
    }

    private void written() {
        commits.written().run();
        assertTrue(commits.isEmpty());
        assertEquals(0, commits.length());
    }

    @Test
    void whatIsWholeIsTakenAsItWasChecked() {
        var records = records(5, -1);
        assertNull(commits.take(records, BASE, this, REQUEST));
        var expected = copyOf(records, 5);
        records.fill((byte) 7);
        var byMessage = UnpooledByteBufAllocator.DEFAULT.directBuffer();
        Records.encode(Records.encode(byMessage, payload(5)), payload(6));
        commits.take(byMessage, 2, BASE, this, REQUEST + 1);
        assertEquals(0, byMessage.readerIndex());
        byMessage.release();
        assertNull(commits.take(records(1, -1), BASE, this, REQUEST + 2));
        assertEquals(8, commits.count());
        assertEquals(8 * LENGTH, commits.length());
        assertEquals(8 * LENGTH, commits.memory().byteSize());
        assertEquals(8, Records.count(commits.records(), 0, 8 * LENGTH));
        assertEquals(expected, commits.records().slice(0, 5 * LENGTH));
        written();
        assertEquals(List.of(new Message.Produced(REQUEST, BASE), new Message.Produced(REQUEST + 1, BASE + 5),
                new Message.Produced(REQUEST + 2, BASE + 7)), told);
    }

    @Test
    void whatIsInFrontOfADamagedRecordIsTakenAndNothingBehind() {
        assertNull(commits.take(records(3, -1), BASE, this, REQUEST));
        var records = records(5, 2);
        assertEquals("the record at byte " + 2 * LENGTH + " of " + 5 * LENGTH
                + " does not have the CRC32C that it says; 2 in front of it are committed",
                commits.take(records, BASE, this, REQUEST + 1));
        assertEquals(5, commits.count());
        assertEquals(5 * LENGTH, commits.length());
        assertEquals(copyOf(records, 2), commits.records().slice(3 * LENGTH, 2 * LENGTH));
        written();
        assertEquals(List.of(new Message.Produced(REQUEST, BASE),
                new Message.PartlyProduced(REQUEST + 1, BASE + 3, 2 * LENGTH)), told);
    }

    @Test
    void ofWhatBeginsWithADamagedRecordNothingIsTaken() {
        assertEquals("the record at byte 0 of " + 5 * LENGTH + " does not have the CRC32C that it says",
                commits.take(records(5, 0), BASE, this, REQUEST));
        assertTrue(commits.isEmpty());
        assertEquals(0, commits.length());
        assertNull(commits.take(records(1, -1), BASE, this, REQUEST + 1));
        written();
        assertEquals(List.of(new Message.Produced(REQUEST + 1, BASE)), told);
    }

    @Test
    void whatIsDroppedOrFailsIsNotTold() {
        assertNull(commits.take(records(5, -1), BASE, this, REQUEST));
        commits.drop();
        assertTrue(commits.isEmpty());
        assertNull(commits.take(records(4, -1), BASE, this, REQUEST + 1));
        commits.fail("no room");
        assertTrue(commits.isEmpty());
        assertEquals(1, told.size());
        assertEquals(REQUEST + 1, ((Message.Failed) told.getFirst()).request());
    }
}
