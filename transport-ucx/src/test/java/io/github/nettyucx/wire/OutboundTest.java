// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static io.github.nettyucx.wire.ScriptedPort.INLINE;
import static io.github.nettyucx.wire.ScriptedPort.PENDING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class OutboundTest {

    private static final int PEER = 0xbeef;
    private static final int WINDOW = 16 * 1024;
    private static final int MAX_MESSAGE = 4 * 1024;

    private final ScriptedPort port = new ScriptedPort();
    private final Outbound outbound = new Outbound(port, Traffic.ofConnection());
    private ByteBuf memory;

    @BeforeEach
    void open() {
        outbound.open(PEER, WINDOW, MAX_MESSAGE);
        memory = port.memory.allocate(MAX_MESSAGE);
    }

    private boolean send(int length, int flushed) {
        boolean taken = outbound.send(TrackedMemory.addressOf(memory), length, memory, flushed, 0);
        if (taken) {
            memory.retain();
        }
        return taken;
    }

    /** What the next turn of the loop finds. */
    private int completed() {
        outbound.poll();
        return outbound.completed();
    }

    // ------------------------------------------------------------------------------------------- progress

    @Test
    void hasMovedByWhatLeavesLateAndByWhatIsGranted() {
        assertEquals(0, outbound.moved());
        port.answer(PENDING);
        send(MAX_MESSAGE, MAX_MESSAGE);
        assertEquals(0, outbound.moved());
        port.completeAll();
        completed();
        long late = outbound.moved();
        assertTrue(late > 0);
        // Less than has left late: a peer that takes little goes on taking.
        assertTrue(outbound.granted(100));
        long granted = outbound.moved();
        assertTrue(granted > late);
        assertTrue(outbound.granted(MAX_MESSAGE - 100));
        long before = outbound.moved();
        port.answer(PENDING);
        send(100, 100);
        port.completeAll();
        completed();
        assertTrue(outbound.moved() > before);
    }

    // ------------------------------------------------------------------------------------------- room

    @Test
    void hasNoRoomBeforeTheHandshake() {
        assertEquals(0, new Outbound(port, Traffic.ofConnection()).room());
    }

    @Test
    void hasRoomForOneMessageOfTheLargestSize() {
        assertEquals(MAX_MESSAGE, outbound.room());
    }

    @Test
    void hasRoomForTheCreditThatIsLeftLessAMessagesCharge() {
        for (int i = 0; i < 3; i++) {
            send(MAX_MESSAGE, 0);
        }
        int left = WINDOW - 3 * (MAX_MESSAGE + 64);
        assertEquals(left - 64, outbound.room());
        send(left - 64, 0);
        assertEquals(0, outbound.room());
    }

    @Test
    void hasNoRoomForTheRestThatNotEvenAChargeFitsInto() {
        send(MAX_MESSAGE, 0);
        send(MAX_MESSAGE, 0);
        send(MAX_MESSAGE, 0);
        send(outbound.room() - 30, 0);
        assertEquals(0, outbound.room());
    }

    @Test
    void hasRoomAgainWhenCreditIsGranted() {
        send(MAX_MESSAGE, 0);
        send(MAX_MESSAGE, 0);
        send(MAX_MESSAGE, 0);
        send(outbound.room(), 0);
        assertTrue(outbound.granted(1000));
        assertEquals(1000 - 64, outbound.room());
    }

    @Test
    void takesNoMoreCreditThanTheWindowHas() {
        assertFalse(outbound.granted(1));
        send(100, 0);
        assertFalse(outbound.granted(165));
        assertTrue(outbound.granted(164));
    }

    @Test
    void findsALargestMessageOrAnEighthOfTheWindowWorthwhile() {
        assertTrue(outbound.isWorthwhile(MAX_MESSAGE));
        assertTrue(outbound.isWorthwhile(WINDOW / 8));
        assertFalse(outbound.isWorthwhile(WINDOW / 8 - 1));
    }

    @Test
    void findsALargestMessageWorthwhileHoweverSmallItIs() {
        Outbound other = new Outbound(port, Traffic.ofConnection());
        other.open(PEER, WINDOW, 10);
        assertTrue(other.isWorthwhile(10));
        assertFalse(other.isWorthwhile(9));
    }

    // ------------------------------------------------------------------------------------------- completion

    @Test
    void sendsToThePeersChannelAndGrantsAlongWithIt() {
        outbound.send(TrackedMemory.addressOf(memory), 10, memory, 0, 7 * Tag.GRANT_UNIT);
        assertEquals(Tag.ofData(PEER, 0, 7 * Tag.GRANT_UNIT), port.sent.getFirst().tag());
        assertEquals(10, port.sent.getFirst().length());
    }

    @Test
    void takesNoReferenceForASendThatIsDone() {
        port.answer(INLINE);
        assertFalse(send(10, 10));
        assertTrue(outbound.isIdle());
        assertEquals(0, completed());
        assertEquals(1, memory.refCnt());
    }

    @Test
    void releasesItsReferenceWhenTheSendIsDone() {
        port.answer(PENDING);
        assertTrue(send(10, 10));
        assertEquals(0, completed());
        assertEquals(2, memory.refCnt());
        assertFalse(outbound.poll());

        port.complete(port.lastRequest(), UcsStatus.OK);
        assertTrue(outbound.poll());
        assertEquals(10, completed());
        assertEquals(1, memory.refCnt());
        assertTrue(outbound.isIdle());
    }

    @Test
    void reportsSendsInTheirOrderWhateverTheOrderOfTheirCompletion() {
        port.answer(PENDING, PENDING, PENDING);
        send(1, 1);
        send(2, 2);
        send(3, 3);
        port.complete(port.sent.get(2).request(), UcsStatus.OK);
        port.complete(port.sent.get(1).request(), UcsStatus.OK);
        assertFalse(outbound.poll());
        assertEquals(0, completed());

        port.complete(port.sent.get(0).request(), UcsStatus.OK);
        assertEquals(6, completed());
    }

    @Test
    void reportsASendThatIsDoneAtOnceAfterThoseBeforeIt() {
        port.answer(PENDING, INLINE);
        send(1, 1);
        assertFalse(send(2, 2), "its memory is not needed any more");
        assertFalse(outbound.isIdle());
        assertEquals(0, completed());

        port.complete(port.sent.getFirst().request(), UcsStatus.OK);
        assertEquals(3, completed());
    }

    @Test
    void remembersNothingOfASendThatIsDoneAndHasNothingToReport() {
        port.answer(PENDING, INLINE);
        send(1, 1);
        send(2, 0);
        port.complete(port.sent.getFirst().request(), UcsStatus.OK);
        assertEquals(1, completed());
        assertTrue(outbound.isIdle());
    }

    @Test
    void hasSixteenInFlightAtMost() {
        for (int i = 0; i < 16; i++) {
            assertTrue(outbound.room() > 0);
            port.answer(PENDING);
            send(1, 1);
        }
        assertEquals(0, outbound.room());
        port.complete(port.sent.getFirst().request(), UcsStatus.OK);
        assertEquals(1, completed());
        assertTrue(outbound.room() > 0);
    }

    @Test
    void goesAroundItsRingManyTimes() {
        int next = 0;
        long reported = 0;
        for (int i = 0; i < 1000; i++) {
            port.answer(PENDING);
            send(1, i);
            assertTrue(outbound.granted(65));
            if (i % 3 == 2) {
                port.complete(port.sent.get(next++).request(), UcsStatus.OK);
                port.complete(port.sent.get(next++).request(), UcsStatus.OK);
                port.complete(port.sent.get(next++).request(), UcsStatus.OK);
                reported += completed();
            }
        }
        port.completeAll();
        assertEquals(999 * 1000 / 2, reported + completed());
        assertEquals(1, memory.refCnt());
    }

    // ------------------------------------------------------------------------------------------- control

    @Test
    void grantsWhileASendThatWaitsForThePeerIsInFlight() {
        port.answer(PENDING, PENDING);
        send(MAX_MESSAGE, MAX_MESSAGE);
        outbound.sendCredit(5000);
        long credit = port.lastRequest();
        assertFalse(outbound.canSendCredit(), "one at a time");

        port.complete(credit, UcsStatus.OK);
        outbound.pollControls();
        assertTrue(outbound.canSendCredit());
        assertFalse(outbound.isIdle());
    }

    @Test
    void grantsAfterItsOwnEnd() {
        outbound.finish(false);
        assertTrue(outbound.canSendCredit());
    }

    @Test
    void endsOnce() {
        outbound.finish(false);
        outbound.finish(true);
        assertEquals(1, port.sent.size());
        assertEquals(Tag.of(PEER, Tag.FIN, Tag.FIN_HALF), port.sent.getFirst().tag());
        assertEquals(0, outbound.room());
        assertTrue(outbound.isFinishing());
    }

    @Test
    void saysWhetherItReadsOn() {
        outbound.finish(true);
        assertEquals(Tag.FIN_CLOSE, port.sent.getFirst().value());
    }

    @Test
    void isAcknowledgedOnceAndOnlyAfterItsEnd() {
        assertFalse(outbound.acknowledged());
        outbound.finish(false);
        assertTrue(outbound.acknowledged());
        assertFalse(outbound.isFinishing());
        assertFalse(outbound.acknowledged());
    }

    @Test
    void isAcknowledgedEvenWhenItCannotSendAnyMore() {
        outbound.finish(false);
        outbound.fail(UcsStatus.ERR_CONNECTION_RESET);
        assertTrue(outbound.acknowledged());
    }

    @Test
    void hasAllControlMessagesInFlightAtOnce() {
        for (int i = 0; i < 16; i++) {
            port.answer(PENDING);
            send(1, 1);
        }
        port.answer(PENDING, PENDING, PENDING);
        outbound.sendCredit(1);
        outbound.finish(false);
        outbound.sendFinAck();
        port.completeAll();
        outbound.pollControls();
        assertFalse(outbound.isControlInFlight());
        assertEquals(16, completed());
        assertEquals(1, memory.refCnt());
    }

    // ------------------------------------------------------------------------------------------- failure

    @Test
    void failsWithASendThatCannotBePosted() {
        port.answer(UcsStatus.ERR_CONNECTION_RESET);
        assertFalse(send(10, 10));
        assertTrue(outbound.isFailed());
        assertEquals(UcsStatus.ERR_CONNECTION_RESET, outbound.failure());
        assertEquals(0, outbound.room());
        assertEquals(0, completed());
    }

    @Test
    void reportsWhatCameBeforeAFailedSendAndNothingAfterIt() {
        port.answer(PENDING, PENDING, PENDING);
        send(1, 1);
        send(2, 2);
        send(3, 3);
        port.complete(port.sent.get(0).request(), UcsStatus.OK);
        port.complete(port.sent.get(1).request(), UcsStatus.ERR_CANCELED);
        port.complete(port.sent.get(2).request(), UcsStatus.OK);
        assertEquals(1, completed());
        assertTrue(outbound.isFailed());
        assertEquals(UcsStatus.ERR_CANCELED, outbound.failure());
        assertEquals(1, memory.refCnt());
    }

    @Test
    void failsWithAControlMessage() {
        port.answer(PENDING);
        outbound.sendCredit(1);
        port.complete(port.lastRequest(), UcsStatus.ERR_IO_ERROR);
        outbound.pollControls();
        assertTrue(outbound.isFailed());
        assertFalse(outbound.canSendCredit());
    }

    @Test
    void sendsNothingAfterAFailure() {
        outbound.fail(UcsStatus.ERR_CONNECTION_RESET);
        outbound.finish(false);
        outbound.sendFinAck();
        assertEquals(0, port.sent.size());
        assertEquals(0, outbound.room());
    }

    @Test
    void leavesWhatIsInFlightToTheWorker() {
        port.answer(PENDING, INLINE, PENDING, PENDING);
        send(1, 1);
        send(2, 2);
        send(3, 3);
        outbound.sendCredit(1);
        outbound.abandon();
        assertTrue(outbound.isIdle());
        assertFalse(outbound.isControlInFlight());
        assertEquals(3, memory.refCnt());

        port.completeAll();
        assertEquals(1, memory.refCnt());
        memory.release();
        port.assertEverythingReturned();
    }
}
