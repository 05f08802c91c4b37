// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is written at once. */
class GatheringTest {
    private static final long CAPACITY = 1 << 20;

    private final Gathering gathering = new Gathering(UnpooledByteBufAllocator.DEFAULT);
    private final List<Promise<Long>> promises = new ArrayList<>();
    private final List<ByteBuf> sent = new ArrayList<>();

    private ByteBuf add(int payload) {
        return add(Records.encode(UnpooledByteBufAllocator.DEFAULT, new byte[payload]));
    }

    private ByteBuf add(ByteBuf records) {
        promises.add(ImmediateEventExecutor.INSTANCE.newPromise());
        sent.add(records);
        gathering.add(records, promises.getLast());
        return records;
    }

    /** @return how many were written at once */
    private int take(int length) {
        var gathered = gathering.take(CAPACITY);
        assertEquals(length, gathered.records().readableBytes());
        var bytes = gathered.records().nioBuffer();
        var count = gathered.entries().stream().mapToInt(Gathering.Entry::count).sum();
        assertEquals(count, Records.count(bytes, 0, bytes.limit()));
        gathered.records().release();
        return gathered.entries().size();
    }

    @Test
    void smallOnesGoTogetherUpToANumber() {
        for (var i = 0; i < Gathering.MAX_COUNT + 3; i++) {
            assertEquals(i >= Gathering.MAX_COUNT, gathering.isEnough());
            add(10);
        }
        assertEquals(Gathering.MAX_COUNT, take(Gathering.MAX_COUNT * 18));
        assertFalse(gathering.isEnough());
        assertEquals(3, take(3 * 18));
        assertTrue(gathering.isEmpty());
        assertTrue(sent.stream().allMatch(records -> records.refCnt() == 0));
    }

    @Test
    void orUpToALength() {
        var half = Gathering.MAX_BYTES / 2 - Records.HEADER;
        add(half);
        add(half);
        assertTrue(gathering.isEnough());
        add(0);
        assertEquals(2, take(Gathering.MAX_BYTES));
        assertEquals(1, take(Records.HEADER));
    }

    @Test
    void aLargeOneGoesByItselfAndIsNotCopied() {
        add(1);
        var large = add(Gathering.MAX_BYTES);
        add(1);
        assertEquals(1, take(9));
        var gathered = gathering.take(CAPACITY);
        assertSame(large, gathered.records());
        gathered.records().release();
        assertEquals(1, take(9));
    }

    @Test
    void whatWasSentTogetherCountsAsMany() {
        var two = Records.encode(Records.encode(UnpooledByteBufAllocator.DEFAULT.directBuffer(), new byte[5]), new byte[6]);
        add(1);
        add(two);
        var gathered = gathering.take(CAPACITY);
        assertEquals(List.of(1, 2), gathered.entries().stream().map(Gathering.Entry::count).toList());
        gathered.records().release();
    }

    @Test
    void noMoreThanASegmentHasAndWhatIsLongerIsRefused() {
        var longer = add(100);
        add(20);
        add(20);
        assertNull(gathering.take(50));
        assertEquals(ErrorCode.TOO_LARGE, assertInstanceOf(BrokerException.class, promises.getFirst().cause()).code());
        assertEquals(0, longer.refCnt());
        for (var i = 0; i < 2; i++) {
            var gathered = gathering.take(50);
            assertEquals(1, gathered.entries().size());
            gathered.records().release();
        }
    }

    @Test
    void whatIsNoRecordIsSentAsItIs() {
        for (var length : new int[] {0, 7, 8, 50}) {
            var garbage = UnpooledByteBufAllocator.DEFAULT.directBuffer().writeZero(length);
            add(garbage);
            assertEquals(0, gathering.take(CAPACITY).entries().getFirst().count());
            garbage.release();
        }
    }

    @Test
    void allFailTogether() {
        add(1);
        add(2);
        gathering.fail(new IOException("gone"));
        assertTrue(gathering.isEmpty());
        assertFalse(gathering.isEnough());
        assertTrue(promises.stream().allMatch(promise -> promise.cause() instanceof IOException));
        assertTrue(sent.stream().allMatch(records -> records.refCnt() == 0));
    }
}
