// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.storage.Durability;
import io.github.nettyucx.examples.log.storage.PartitionLog;
import io.github.nettyucx.examples.log.storage.Records;
import io.github.nettyucx.examples.log.storage.SegmentFile;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records come to the file as they were checked, whether it is mapped or written, and nothing else does. */
@Timeout(60)
class CommitBufferTest implements Peer {
    private static final int CAPACITY = 64 << 10;
    private static final int PAYLOAD = 92;
    private static final int LENGTH = PAYLOAD + Records.HEADER;
    private static final int REQUEST = 17;

    @TempDir
    private Path directory;

    private final CommitBuffer commits = new CommitBuffer();
    private final List<Message> told = new ArrayList<>();
    private PartitionLog log;
    private long base;

    @Override
    public void send(Message message) {
        told.add(message);
    }

    @Override
    public void disconnect() {
        throw new AssertionError("sent away");
    }

    /** With some records in the active segment. */
    private void open(boolean mapped) throws IOException {
        log = PartitionLog.open(directory, CAPACITY, Durability.PAGE_CACHE);
        for (var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30); mapped && log.active().mapping() == null;) {
            // Another thread makes the next segment when there is half of this one.
            log.append(records(CAPACITY / LENGTH, -1).asByteBuffer());
            log.roll();
            assertTrue(System.nanoTime() < deadline, "there is no mapped segment");
        }
        log.append(records(3, -1).asByteBuffer());
        base = log.nextOffset();
    }

    @AfterEach
    void close() throws IOException {
        log.close();
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
        var memory = Arena.ofAuto().allocate(Math.max(1, all.readableBytes()));
        memory.copyFrom(MemorySegment.ofBuffer(all.nioBuffer()));
        all.release();
        return memory;
    }

    private static byte[] payload(int number) {
        var payload = new byte[PAYLOAD];
        payload[0] = (byte) number;
        return payload;
    }

    private byte[] file(SegmentFile segment, int from, int to) throws IOException {
        var bytes = ByteBuffer.allocate(to - from);
        segment.read(bytes, from);
        return bytes.array();
    }

    private static byte[] bytes(MemorySegment records, int length) {
        return records.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private void write() throws IOException {
        commits.append(log);
        commits.written().run();
        assertTrue(commits.isEmpty());
        assertEquals(0, commits.length());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsWholeIsTakenAndAppended(boolean mapped) throws Exception {
        open(mapped);
        assertEquals(mapped, log.active().mapping() != null);
        var records = records(5, -1);
        assertNull(commits.take(records, log.active(), this, REQUEST));
        assertEquals(5, commits.count());
        // What is written to the producer's memory then is of no account.
        var expected = bytes(records, 5 * LENGTH);
        records.fill((byte) 7);
        var byMessage = UnpooledByteBufAllocator.DEFAULT.directBuffer();
        Records.encode(byMessage, payload(5));
        commits.take(byMessage, 1, log.active(), this, REQUEST + 1);
        assertEquals(0, byMessage.readerIndex());
        byMessage.release();
        assertEquals(6 * LENGTH, commits.length());
        assertEquals(6, Records.count(commits.records(), 0, 6 * LENGTH));
        assertEquals(6 * LENGTH, commits.memory().byteSize());
        write();
        assertEquals(base + 6, log.nextOffset());
        assertArrayEquals(expected, file(log.active(), 3 * LENGTH, 8 * LENGTH));
        assertEquals(List.of(new Message.Produced(REQUEST, base), new Message.Produced(REQUEST + 1, base + 5)), told);
        assertReopened(base + 6);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsInFrontOfADamagedRecordIsTakenAndNothingBehind(boolean mapped) throws Exception {
        open(mapped);
        var records = records(5, 2);
        var fault = commits.take(records, log.active(), this, REQUEST);
        assertEquals("the record at byte " + 2 * LENGTH + " of " + 5 * LENGTH
                + " does not have the CRC32C that it says; 2 in front of it are committed", fault);
        assertEquals(2, commits.count());
        assertEquals(2 * LENGTH, commits.length());
        write();
        assertEquals(base + 2, log.nextOffset());
        assertArrayEquals(bytes(records, 2 * LENGTH), file(log.active(), 3 * LENGTH, 5 * LENGTH));
        assertArrayEquals(new byte[3 * LENGTH], file(log.active(), 5 * LENGTH, 8 * LENGTH));
        assertEquals(List.of(new Message.PartlyProduced(REQUEST, base, 2 * LENGTH)), told);
        assertReopened(base + 2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ofWhatBeginsWithADamagedRecordNothingIsLeft(boolean mapped) throws Exception {
        open(mapped);
        var fault = commits.take(records(5, 0), log.active(), this, REQUEST);
        assertEquals("the record at byte 0 of " + 5 * LENGTH + " does not have the CRC32C that it says", fault);
        assertTrue(commits.isEmpty());
        // Those behind it are whole: they must not be found behind one of the same length that comes then.
        assertNull(commits.take(records(1, -1), log.active(), this, REQUEST));
        write();
        assertArrayEquals(new byte[4 * LENGTH], file(log.active(), 4 * LENGTH, 8 * LENGTH));
        assertReopened(base + 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsDroppedIsNotFoundAgain(boolean mapped) throws Exception {
        open(mapped);
        assertNull(commits.take(records(5, -1), log.active(), this, REQUEST));
        commits.drop();
        assertTrue(commits.isEmpty());
        assertNull(commits.take(records(4, -1), log.active(), this, REQUEST));
        commits.fail("no room");
        assertEquals(1, told.size());
        assertEquals(REQUEST, ((Message.Failed) told.removeFirst()).request());
        assertArrayEquals(new byte[5 * LENGTH], file(log.active(), 3 * LENGTH, 8 * LENGTH));
        assertNull(commits.take(records(1, -1), log.active(), this, REQUEST));
        write();
        assertReopened(base + 1);
    }

    /** The segment ends with a batch, or in front of one, and the next batch lies in the next. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theNextSegmentIsAnotherPlace(boolean mapped) throws Exception {
        open(mapped);
        assertNull(commits.take(records(5, -1), log.active(), this, REQUEST));
        write();
        var full = log.active();
        log.roll();
        assertNull(full.mapping());
        assertEquals(8 * LENGTH, full.size());
        assertNull(commits.take(records(2, -1), log.active(), this, REQUEST));
        write();
        assertEquals(new Message.Produced(REQUEST, base + 5), told.getLast());
        assertEquals(2 * LENGTH, log.active().size());
        assertEquals(2, Records.count(ByteBuffer.wrap(file(log.active(), 0, 2 * LENGTH)), 0, 2 * LENGTH));
        assertReopened(base + 7);
    }

    private void assertReopened(long nextOffset) throws IOException {
        // As a process that is killed: the segment is not sealed.
        log.close();
        log = PartitionLog.open(directory, CAPACITY, Durability.PAGE_CACHE);
        assertEquals(nextOffset, log.nextOffset());
    }
}
