// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** What is written at once, and who is told of it. */
class GatheringTest implements Batch.Owner, Producer.Acknowledgement {
    private static final int MOST = 1 << 20;
    private static final int MEASURED = 50_000;

    private final Gathering gathering = new Gathering(UnpooledByteBufAllocator.DEFAULT, this);
    private final List<ByteBuf> sent = new ArrayList<>();
    private final Map<Long, Long> offsets = new TreeMap<>();
    private final Map<Long, Throwable> failures = new TreeMap<>();
    private long lastId;

    @Override
    public void committed(Batch batch, long offset) {
        batch.acknowledge(offset);
    }

    @Override
    public void failed(Batch batch, Throwable cause) {
        batch.fail(cause);
    }

    @Override
    public void done(long id, long offset, Throwable cause) {
        assertFalse(offsets.containsKey(id) || failures.containsKey(id), () -> id + " is told twice");
        if (cause == null) {
            offsets.put(id, offset);
        } else {
            failures.put(id, cause);
        }
    }

    private ByteBuf add(int payload) {
        return add(Records.encode(UnpooledByteBufAllocator.DEFAULT, new byte[payload]));
    }

    private ByteBuf add(ByteBuf records) {
        return add(records, MOST);
    }

    private ByteBuf add(ByteBuf records, int most) {
        sent.add(records);
        gathering.add(records, most, this, lastId++);
        return records;
    }

    private void addPayload(int length) {
        gathering.add(new byte[length], MOST, this, lastId++);
    }

    /** @return how many sends were written at once */
    private int take(int length) {
        var batch = gathering.take(true);
        assertEquals(length, batch.length());
        var bytes = batch.records().nioBuffer();
        assertTrue(Records.count(bytes, 0, bytes.limit()) >= batch.size());
        var size = batch.size();
        batch.release();
        gathering.recycle(batch);
        return size;
    }

    @Test
    void smallOnesGoTogetherUpToANumber() {
        for (var i = 0; i < Batch.MAX_COUNT + 3; i++) {
            assertEquals(i >= Batch.MAX_COUNT, gathering.isEnough());
            if (i % 2 == 0) {
                add(10);
            } else {
                addPayload(10);
            }
        }
        assertEquals(Batch.MAX_COUNT, take(Batch.MAX_COUNT * 18));
        assertFalse(gathering.isEnough());
        assertNull(gathering.take(false));
        assertEquals(3, take(3 * 18));
        assertTrue(gathering.isEmpty());
        assertNull(gathering.take(true));
        assertTrue(sent.stream().allMatch(records -> records.refCnt() == 0));
    }

    @Test
    void orUpToALength() {
        var half = Batch.MAX_BYTES / 2 - Records.HEADER;
        add(half);
        addPayload(half);
        assertTrue(gathering.isEnough());
        add(0);
        assertEquals(2, take(Batch.MAX_BYTES));
        assertEquals(1, take(Records.HEADER));
    }

    @Test
    void oneThatDoesNotFitBeginsAnother() {
        var third = Batch.MAX_BYTES / 3 - Records.HEADER;
        addPayload(third);
        addPayload(third);
        assertFalse(gathering.isEnough());
        addPayload(third + 10);
        assertTrue(gathering.isEnough());
        addPayload(1);
        assertEquals(2, take(2 * (third + Records.HEADER)));
        assertEquals(2, take(third + 11 + 2 * Records.HEADER));
    }

    @Test
    void aLargeOneGoesByItselfAndIsNotCopied() {
        add(1);
        var large = add(Batch.MAX_BYTES);
        add(1);
        assertEquals(1, take(9));
        var batch = gathering.take(true);
        assertSame(large, batch.records());
        batch.release();
        addPayload(Batch.MAX_BYTES);
        addPayload(1);
        assertEquals(1, take(9));
        assertEquals(1, take(Batch.MAX_BYTES + Records.HEADER));
        assertEquals(1, take(9));
    }

    @Test
    void whatWasSentTogetherCountsAsMany() {
        var two = Records.encode(Records.encode(UnpooledByteBufAllocator.DEFAULT.directBuffer(), new byte[5]), new byte[6]);
        add(1);
        add(two);
        addPayload(3);
        var batch = gathering.take(true);
        batch.answered(new Message.Produced(1, 100));
        assertEquals(Map.of(0L, 100L, 1L, 101L, 2L, 103L), offsets);
        batch.release();
    }

    @Test
    void noMoreThanCanBeWrittenAndWhatIsLongerIsRefused() {
        var longer = add(Records.encode(UnpooledByteBufAllocator.DEFAULT, new byte[100]), 50);
        gathering.add(new byte[43], 50, this, lastId++);
        for (var id : List.of(0L, 1L)) {
            assertEquals(ErrorCode.TOO_LARGE, assertInstanceOf(BrokerException.class, failures.get(id)).code());
        }
        assertEquals(0, longer.refCnt());
        assertTrue(gathering.isEmpty());
        for (var i = 0; i < 2; i++) {
            add(Records.encode(UnpooledByteBufAllocator.DEFAULT, new byte[20]), 50);
        }
        gathering.add(new byte[42], 50, this, lastId++);
        assertEquals(1, take(28));
        assertEquals(1, take(28));
        assertEquals(1, take(50));
    }

    @Test
    void whatIsNoRecordIsSentAsItIs() {
        for (var length : new int[] {0, 7, 8, 50}) {
            add(UnpooledByteBufAllocator.DEFAULT.directBuffer().writeZero(length));
            var batch = gathering.take(true);
            assertEquals(length, batch.length());
            assertEquals(1, batch.size());
            batch.release();
        }
    }

    /** What is committed is told as far as it is a send's whole; the rest fails. */
    @Test
    void ofAPartThatIsCommittedThoseAreToldWhoHaveSentItsRecords() {
        addPayload(10);
        add(Records.encode(Records.encode(UnpooledByteBufAllocator.DEFAULT.directBuffer(), new byte[5]), new byte[6]));
        add(Records.encode(UnpooledByteBufAllocator.DEFAULT.directBuffer(), new byte[7]).writeZero(9));
        addPayload(1);
        var batch = gathering.take(true);
        // The first of the third send is whole, and the rest of it is not.
        batch.partlyAnswered(new Message.PartlyProduced(1, 50, 18 + 13 + 14 + 15));
        assertEquals(Map.of(0L, 50L, 1L, 51L), offsets);
        batch.failed(new IOException("damaged"));
        assertEquals(List.of(2L, 3L), List.copyOf(failures.keySet()));
        batch.release();
    }

    @Test
    void whoThrowsIsNotTheOthersMatter() {
        gathering.add(new byte[1], MOST, (_, _, _) -> {
            throw new IllegalStateException("thrown by a test");
        }, 0);
        lastId = 1;
        addPayload(1);
        var batch = gathering.take(true);
        batch.answered(new Message.Produced(1, 7));
        assertEquals(Map.of(1L, 8L), offsets);
        batch.release();
    }

    @Test
    void aBatchThatIsUsedAgainHasNothingOfTheOneBefore() {
        addPayload(1);
        var batch = gathering.take(true);
        batch.request = 5;
        batch.answered(new Message.Produced(5, 0));
        batch.release();
        gathering.recycle(batch);
        addPayload(2);
        assertSame(batch, gathering.take(true));
        assertEquals(1, batch.size());
        assertEquals(Message.UNASKED, batch.request);
        batch.answered(new Message.Produced(6, 1));
        assertEquals(Map.of(0L, 0L, 1L, 1L), offsets);
        batch.release();
    }

    @Test
    void allFailTogether() {
        add(1);
        add(2);
        add(Batch.MAX_BYTES);
        gathering.fail(new IOException("gone"));
        assertTrue(gathering.isEmpty());
        assertFalse(gathering.isEnough());
        assertEquals(3, failures.size());
        assertTrue(failures.values().stream().allMatch(cause -> cause instanceof IOException));
        assertTrue(sent.stream().allMatch(records -> records.refCnt() == 0));
    }

    @Test
    void nothingIsAllocatedForARecord() throws Exception {
        var level = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
        var measuring = new FutureTask<>(this::allocatedBytes);
        // As an event loop's, which has a cache of buffers.
        new FastThreadLocalThread(measuring).start();
        try {
            var allocated = measuring.get();
            assertTrue(allocated < MEASURED / 10, () -> allocated + " bytes for " + MEASURED + " records");
        } finally {
            ResourceLeakDetector.setLevel(level);
        }
    }

    private long allocatedBytes() {
        var counted = new long[1];
        Producer.Acknowledgement told = (id, offset, cause) -> counted[0]++;
        var pooled = new Gathering(PooledByteBufAllocator.DEFAULT, this);
        var payload = new byte[512];
        var answer = new Message.Produced(1, 0);
        send(pooled, payload, told, answer);
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        var before = threads.getCurrentThreadAllocatedBytes();
        send(pooled, payload, told, answer);
        var allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertEquals(2 * MEASURED, counted[0]);
        return allocated;
    }

    private static void send(Gathering pooled, byte[] payload, Producer.Acknowledgement told, Message.Produced answer) {
        for (var i = 1; i <= MEASURED; i++) {
            pooled.add(payload, MOST, told, i);
            for (Batch batch; (batch = pooled.take(i == MEASURED)) != null;) {
                batch.answered(answer);
                batch.release();
                pooled.recycle(batch);
            }
        }
    }
}
