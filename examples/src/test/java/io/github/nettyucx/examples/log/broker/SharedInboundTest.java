// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.log.broker.BrokerSettings.MemoryKind;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.OrderWord;
import io.github.nettyucx.examples.log.protocol.SealReason;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryNotification;
import io.github.nettyucx.memory.UcxMemoryRight;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Turns are numbers that begin again, and more messages may come than there are turns. */
@Timeout(60)
class SharedInboundTest implements Peer, Inbound.Commits {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int SEGMENT = 4 << 20;
    private static final int LENGTH = 8;
    private static final int MESSAGES = 70_000;
    private static final int BY_MEMORY = -1;

    private final DefaultEventExecutor loop = new DefaultEventExecutor();
    private final UcxMemory memory = MemoryKind.values()[0].allocate(SEGMENT + Long.BYTES, UcxMemoryRight.WRITE,
            UcxMemoryRight.ATOMIC);
    /** Without a leak detector, which takes long for so many; the count is looked at in the end. */
    private final ByteBuf record = new UnpooledByteBufAllocator(true, true).directBuffer(LENGTH).writeZero(LENGTH);
    private final SharedInbound inbound = new SharedInbound(memory, SEGMENT, 0, loop, Duration.ofMinutes(1), this);
    private final List<Integer> committed = new ArrayList<>();
    private final List<String> ends = new ArrayList<>();

    @Override
    public void send(Message message) {
        throw new AssertionError(message);
    }

    @Override
    public void disconnect() {
        throw new AssertionError("sent away");
    }

    @Override
    public String commit(Peer peer, int request, UcxMemory from, long position, long length) {
        committed.add(request);
        return null;
    }

    @Override
    public void commit(Inbound.Sent sent) {
        committed.add(sent.request());
    }

    @Override
    public void end(SealReason reason) {
        ends.add(reason.name());
    }

    @Override
    public void end(Peer offender, int request, String fault) {
        ends.add(fault);
    }

    @AfterEach
    void close() {
        assertEquals(0, inbound.stop().size());
        loop.shutdownGracefully();
        memory.close();
        assertEquals(1, record.refCnt());
        record.release();
    }

    private void sendAll() {
        for (var i = 0; i < MESSAGES; i++) {
            inbound.sent(new Inbound.Sent(this, i, record.retainedDuplicate(), 1));
        }
    }

    private static List<Integer> all() {
        return IntStream.range(0, MESSAGES).boxed().toList();
    }

    @Test
    void turnsBeginAgainInOneSegment() {
        sendAll();
        assertTrue(all().equals(committed), () -> committed.size() + " were committed, or in another order");
        assertEquals(0, ends.size());
        assertEquals((long) MESSAGES * LENGTH, inbound.position());
        assertEquals(MESSAGES & OrderWord.TURNS - 1,
                OrderWord.turn((long) WORD.getVolatile(memory.segment(), OrderWord.at(SEGMENT))));
    }

    @Test
    void moreMessagesThanThereAreTurnsWaitForAPlaceThatIsFilledInTime() {
        var word = (long) WORD.getAndAdd(memory.segment(), OrderWord.at(SEGMENT), OrderWord.reserving(LENGTH));
        sendAll();
        assertEquals(0, committed.size());
        assertEquals(0, ends.size());
        inbound.written(this, new UcxMemoryNotification(memory, OrderWord.notification(OrderWord.turn(word), 0, BY_MEMORY),
                OrderWord.position(word), LENGTH));
        assertEquals(0, ends.size());
        assertEquals(BY_MEMORY, committed.removeFirst());
        assertTrue(all().equals(committed), () -> committed.size() + " were committed, or in another order");
    }

    /**
     * The message is given back, to be committed in another segment.
     *
     * @param hole what is reserved in front of the message, and not filled: with the longer one the message does not fit
     */
    @ParameterizedTest
    @ValueSource(ints = {LENGTH, SEGMENT})
    void whoSendsAMessageIsNotToBlameForATurnThatIsForged(int hole) {
        WORD.getAndAdd(memory.segment(), OrderWord.at(SEGMENT), OrderWord.reserving(hole));
        // Nobody has reserved turn 1.
        inbound.written(this, new UcxMemoryNotification(memory, OrderWord.notification(1, 0, BY_MEMORY), LENGTH, LENGTH));
        assertTrue(committed.isEmpty() && ends.isEmpty());
        inbound.sent(new Inbound.Sent(this, 0, record.retainedDuplicate(), 1));
        assertEquals(List.of(SealReason.DAMAGED.name()), ends);
        var back = inbound.stop();
        assertEquals(List.of(0), back.stream().map(Inbound.Sent::request).toList());
        back.forEach(sent -> sent.records().release());
        assertTrue(committed.isEmpty());
    }

    /** Another one who shares the partition. */
    private static final class Other implements Peer {
        @Override
        public void send(Message message) {
            throw new AssertionError(message);
        }

        @Override
        public void disconnect() {
            throw new AssertionError("sent away");
        }
    }

    private void writtenAs(int turn, Peer peer) {
        inbound.written(peer, new UcxMemoryNotification(memory, OrderWord.notification(turn, 0, BY_MEMORY), LENGTH, LENGTH));
    }

    /** One of them has reserved it. */
    @Test
    void ofTwoWhoHaveWrittenWithTheSameTurnNeitherIsToBlame() {
        writtenAs(1, new Other());
        writtenAs(1, this);
        assertEquals(List.of(SealReason.DAMAGED.name()), ends);
        assertTrue(committed.isEmpty());
    }

    @Test
    void whoHasWrittenTwiceWithTheSameTurnIs() {
        writtenAs(1, this);
        writtenAs(1, this);
        assertEquals(List.of("turn 1 has been taken already"), ends);
        assertTrue(committed.isEmpty());
    }

    @Test
    void whatWaitsIsGivenBackInItsOrderWhenTheSegmentEnds() {
        WORD.getAndAdd(memory.segment(), OrderWord.at(SEGMENT), OrderWord.reserving(LENGTH));
        sendAll();
        var back = inbound.stop();
        assertTrue(all().equals(back.stream().map(Inbound.Sent::request).toList()), () -> back.size() + " came back");
        back.forEach(sent -> sent.records().release());
        assertTrue(committed.isEmpty() && ends.isEmpty());
    }
}
