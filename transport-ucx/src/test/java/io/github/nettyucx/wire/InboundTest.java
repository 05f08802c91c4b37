// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;

import static io.github.nettyucx.wire.ScriptedPort.INLINE;
import static io.github.nettyucx.wire.ScriptedPort.PENDING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class InboundTest extends InboundFixture {

    // ------------------------------------------------------------------------------------------- reading

    @Test
    void hasNothingToReadAtFirst() {
        assertFalse(inbound.isReadable());
        assertNull(read(10));
        assertFalse(inbound.isAtEnd());
    }

    @Test
    void receivesAMessageIntoTheReadersBuffer() throws ProtocolException {
        arrives("hello", READING);
        assertTrue(inbound.isReadable());
        assertEquals(0, port.receiveCount(), "not before it is wanted");

        ByteBuf mine = port.memory.allocate(100);
        ByteBuf buffer = inbound.read(10, length -> {
            assertEquals(5, length);
            return mine;
        });
        assertTrue(buffer == mine);
        assertEquals("hello", buffer.toString(StandardCharsets.US_ASCII));
        buffer.release();
    }

    @Test
    void givesABufferBackThatNothingCanBeReceivedInto() throws ProtocolException {
        arrives("hello", READING);
        // As of an allocator of the application's that has nothing in one piece.
        ByteBuf pieces = Unpooled.wrappedBuffer(port.memory.allocate(8).writeZero(8), port.memory.allocate(8).writeZero(8))
                .clear();
        assertThrows(UnsupportedOperationException.class, () -> inbound.read(10, length -> pieces));
        assertEquals(0, pieces.refCnt());
        assertEquals("hello", read(10), "it is still there");
        assertFalse(inbound.isFailed());
    }

    @Test
    void readsAMessageInPieces() throws ProtocolException {
        arrives("hello", READING);
        assertEquals("he", read(2));
        assertEquals("l", read(1));
        assertEquals("lo", read(2));
        assertNull(read(1));
    }

    @Test
    void givesOutMessagesInTheOrderOfTheirSendingWhateverTheOrderOfTheirCompletion() throws ProtocolException {
        arrives("one", READING);
        arrives("two", READING);
        arrives("three", READING);
        port.answer(PENDING, PENDING, PENDING);
        assertNull(read(WINDOW));
        assertFalse(inbound.isReadable());
        assertEquals(3, port.receiveCount(), "those behind the first one are received ahead");

        port.complete(port.receive(2), UcsStatus.OK);
        port.complete(port.receive(1), UcsStatus.OK);
        assertFalse(inbound.poll(), "nothing that could be read");
        assertFalse(inbound.isReadable());

        port.complete(port.receive(0), UcsStatus.OK);
        assertTrue(inbound.poll());
        assertEquals("onetwothree", readAll());
        assertFalse(inbound.isInFlight());
    }

    @Test
    void holdsMoreAndMoreMessagesInTheirOrder() throws ProtocolException {
        StringBuilder expected = new StringBuilder();
        int arrived = 0;
        for (int round = 1; round <= 15; round++) {
            for (int i = 0; i < round; i++) {
                String text = "<" + arrived++ + ">";
                arrives(text, READING);
                expected.append(text);
            }
            for (int i = 0; i < round / 2; i++) {
                String first = read(WINDOW);
                assertTrue(expected.toString().startsWith(first), first);
                expected.delete(0, first.length());
            }
        }
        assertEquals(expected.toString(), readAll());
    }

    @Test
    void keepsTheMessageWhenTheReaderHasNoMemory() throws ProtocolException {
        arrives("hello", READING);
        noMemory = true;
        assertThrows(OutOfMemoryError.class, () -> read(10));
        noMemory = false;
        assertEquals("hello", read(10));
    }

    // ------------------------------------------------------------------------------------------- stashing

    @Test
    void holdsEightMessagesWhileNobodyReadsAndMovesTheOthersTogether() throws ProtocolException {
        arrive(30, 10, PAUSED);
        assertEquals(22, port.receiveCount());
        assertEquals(1, stashes.size());
        assertEquals("x".repeat(300), readAll());
    }

    @Test
    void holdsSixtyFourMessagesWhileSomebodyReads() throws ProtocolException {
        arrive(64, 10, READING);
        assertEquals(0, port.receiveCount());
        arrive(1, 10, READING);
        assertEquals(1, port.receiveCount());
    }

    @Test
    void givesLargeMessagesABufferOfTheirSize() throws ProtocolException {
        arrive(8, 1, PAUSED);
        arrive(1, 5000, PAUSED);
        assertEquals(5000, stashes.getFirst().capacity());
    }

    @Test
    void goesOnInAnotherBufferWhenOneIsFull() throws ProtocolException {
        arrive(8, 1, PAUSED);
        StringBuilder expected = new StringBuilder("x".repeat(8));
        for (int i = 0; i < 4; i++) {
            String text = Character.toString('a' + i).repeat(3800);
            arrives(text, PAUSED);
            expected.append(text);
        }
        assertEquals(expected.toString(), readAll());
    }

    @Test
    void addsToABufferOfWhichPartHasBeenReadAlready() throws ProtocolException {
        arrive(8, 1, PAUSED);
        arrives("first", PAUSED);
        for (int i = 0; i < 8; i++) {
            read(1);
        }
        assertEquals("fi", read(2));
        arrive(7, 1, PAUSED);
        arrives("second", PAUSED);
        assertEquals("rst" + "x".repeat(7) + "second", readAll());
    }

    /** The application has released a buffer of its own twice, and the second time it was this one, by the allocator's pool. */
    @Test
    void putsNothingIntoABufferThatTheApplicationHasReleased() throws ProtocolException {
        arrive(8, 1, PAUSED);
        arrives("gone", PAUSED);
        stashes.getFirst().release();
        arrives("here", PAUSED);
        assertEquals(2, stashes.size());
        assertEquals(2, port.receiveCount());
        for (int i = 0; i < 8; i++) {
            assertFalse(inbound.isNextReleased());
            assertEquals("x", read(1));
        }
        assertTrue(inbound.isNextReleased());
    }

    @Test
    void holdsAMessageThatThereIsNoMemoryFor() throws ProtocolException {
        arrive(8, 1, PAUSED);
        noMemory = true;
        arrives("kept", PAUSED);
        noMemory = false;
        arrives("too", PAUSED);
        assertEquals("xxxxxxxxkepttoo", readAll());
    }

    @Test
    void spendsMemoryInProportionToTheWindowWhateverThePeerDoes() throws ProtocolException {
        // Messages of a byte, and no receive that completes.
        for (int i = 0; i < WINDOW / 65; i++) {
            port.answer(PENDING);
            arrive(1, 1, PAUSED);
        }
        long memory = stashes.stream().mapToLong(ByteBuf::capacity).sum();
        assertTrue(memory <= 2 * WINDOW + 64, () -> memory + " bytes for a window of " + WINDOW);
    }

    // ------------------------------------------------------------------------------------------- credit

    @Test
    void grantsAgainWhatHasBeenRead() throws ProtocolException {
        arrive(1, 1000, READING);
        assertEquals(0, inbound.takeGrant());
        read(400);
        assertEquals(400, inbound.takeGrant());
        read(600);
        assertEquals(600 + 64, inbound.takeGrant());
        assertEquals(0, inbound.takeGrant());
    }

    @Test
    void grantsTheChargesOfAllMessagesInABuffer() throws ProtocolException {
        arrive(30, 10, PAUSED);
        readAll();
        assertEquals(30 * 74, inbound.takeGrant());
    }

    @Test
    void isDueToGrantFromAQuarterOfTheWindowOn() throws ProtocolException {
        arrive(1, WINDOW / 4 - 65, READING);
        arrive(1, 100, READING);
        read(WINDOW);
        assertFalse(inbound.isGrantDue());
        read(1);
        assertTrue(inbound.isGrantDue());
    }

    @Test
    void owesEverythingWhenNobodyReadsAnyMore() throws ProtocolException {
        arrive(10, 100, PAUSED);
        inbound.discard();
        assertEquals(10 * 164, inbound.takeGrant());
        assertFalse(inbound.isReadable());

        long late = arrives("late", PAUSED);
        assertTrue(port.isDropped(late));
        assertEquals(4 + 64, inbound.takeGrant());
    }

    // ------------------------------------------------------------------------------------------- violations

    private String violation(int length) {
        long message = port.message(new byte[length]);
        String text = assertThrows(ProtocolException.class,
                () -> inbound.data(Tag.ofData(1, arrived, 0), message, length, READING, this::stash)).getMessage();
        assertTrue(port.isDropped(message));
        return text;
    }

    @Test
    void refusesEmptyMessages() {
        assertEquals("the peer sent a message of 0 bytes; expected 1 to 8192", violation(0));
    }

    @Test
    void refusesMessagesThatAreTooLong() {
        assertEquals("the peer sent a message of 8193 bytes; expected 1 to 8192", violation(MAX_MESSAGE + 1));
    }

    @Test
    void refusesMoreThanTheWindow() throws ProtocolException {
        arrive(1, MAX_MESSAGE, READING);
        arrive(1, WINDOW - MAX_MESSAGE - 2 * 64 - 65, READING);
        assertEquals("the peer sent 1 bytes more than its credit allows (window: 16384 bytes)", violation(2));
    }

    @Test
    void refusesMoreThanTheWindowEvenWhenItIsThrownAway() throws ProtocolException {
        inbound.discard();
        arrive(1, MAX_MESSAGE, READING);
        assertEquals("the peer sent 128 bytes more than its credit allows (window: 16384 bytes)",
                violation(MAX_MESSAGE));
    }

    @Test
    void countsAWindowAnewFromWhatIsGranted() throws ProtocolException {
        for (int i = 0; i < 10; i++) {
            arrive(1, MAX_MESSAGE, READING);
            readAll();
            inbound.takeGrant();
        }
        arrive(1, MAX_MESSAGE, READING);
    }

    @Test
    void refusesDataAfterTheEnd() throws ProtocolException {
        finished(true);
        assertEquals("the peer sent data after the end of its stream", violation(1));
    }

    @Test
    void refusesDataAfterTheEndEvenWhenItIsThrownAway() throws ProtocolException {
        inbound.discard();
        finished(true);
        assertEquals("the peer sent data after the end of its stream", violation(1));
    }

    @Test
    void refusesASecondEnd() throws ProtocolException {
        finished(true);
        assertEquals("the peer ended its stream twice",
                assertThrows(ProtocolException.class, () -> finished(true)).getMessage());
        inbound.complete(this::stash);
        assertThrows(ProtocolException.class, () -> finished(true));
    }

    // ------------------------------------------------------------------------------------------- the end

    @Test
    void isCompleteWhenEverythingBeforeTheEndLiesInMemory() throws ProtocolException {
        arrives("one", READING);
        arrives("two", READING);
        assertFalse(inbound.complete(this::stash), "no end yet");
        finished(true);
        port.answer(PENDING, INLINE);
        assertFalse(inbound.complete(this::stash));
        assertFalse(inbound.isComplete());
        assertFalse(inbound.isAtEnd());

        port.complete(port.receive(0), UcsStatus.OK);
        assertTrue(inbound.poll());
        assertTrue(inbound.complete(this::stash));
        assertFalse(inbound.complete(this::stash), "once");
        assertTrue(inbound.isComplete());

        assertFalse(inbound.isAtEnd());
        assertEquals("onetwo", readAll());
        assertTrue(inbound.isAtEnd());
    }

    @Test
    void isNotCompleteWithoutMemoryForAllOfIt() throws ProtocolException {
        arrives("one", READING);
        finished(true);
        noMemory = true;
        assertFalse(inbound.complete(this::stash));
        noMemory = false;
        assertTrue(inbound.complete(this::stash));
        assertEquals("one", readAll());
    }

    @Test
    void isCompleteWhenTheRestIsThrownAway() throws ProtocolException {
        arrives("one", READING);
        finished(true);
        inbound.discard();
        assertTrue(inbound.complete(this::stash));
        assertTrue(inbound.isAtEnd());
    }

    @Test
    void endsWhenNobodyReadsAnyMore() throws ProtocolException {
        inbound.discard();
        finished(false);
        assertTrue(inbound.complete(this::stash));
        assertFalse(inbound.peerReads());
    }

    // ------------------------------------------------------------------------------------------- loss

    @Test
    void keepsWhatUcxHasCompleteWhenTheConnectionIsLost() throws ProtocolException {
        arrives("one", READING);
        arrives("two", READING);
        arrives("three", READING);
        inbound.fail(UcsStatus.ERR_CONNECTION_RESET);
        port.answer(INLINE, PENDING);
        inbound.cutIncomplete(this::stash);
        assertEquals("one", readAll());
        assertEquals(1, port.droppedCount(), "the third is worthless without the second");
        assertFalse(inbound.isInFlight(), "the second is left to the worker");
        assertFalse(inbound.isAtEnd());
    }

    @Test
    void keepsWhatHasCompletedAndWasNotPolledWhenTheConnectionIsLost() throws ProtocolException {
        arrives("one", READING);
        arrives("two", READING);
        port.answer(PENDING, PENDING);
        assertNull(read(WINDOW));
        port.complete(port.receive(0), UcsStatus.OK);
        inbound.fail(UcsStatus.ERR_CONNECTION_RESET);
        inbound.cutIncomplete(this::stash);
        assertEquals("one", readAll());
    }

    @Test
    void keepsTheEarlierMessagesOfABufferThatUcxStillWritesTo() throws ProtocolException {
        arrive(8, 1, PAUSED);
        arrives("here", PAUSED);
        port.answer(PENDING);
        arrives("never", PAUSED);
        inbound.fail(UcsStatus.ERR_CONNECTION_RESET);
        inbound.cutIncomplete(this::stash);
        assertEquals("x".repeat(8) + "here", readAll());
        assertTrue(stashes.getFirst().refCnt() > 0, "UCX may still write to it");
    }

    @Test
    void keepsWhatThereIsMemoryForWhenTheConnectionIsLost() throws ProtocolException {
        arrives("one", READING);
        inbound.fail(UcsStatus.ERR_CONNECTION_RESET);
        noMemory = true;
        inbound.cutIncomplete(this::stash);
        assertNull(read(1));
    }

    @Test
    void failsWithAReceiveThatCannotBePosted() throws ProtocolException {
        arrives("one", READING);
        arrives("two", READING);
        port.answer(UcsStatus.ERR_NO_MEMORY);
        assertNull(read(10));
        assertTrue(inbound.isFailed());
        assertEquals(UcsStatus.ERR_NO_MEMORY, inbound.failure());
        assertNull(read(10), "not the second without the first");
    }

    @Test
    void failsWithAReceiveThatFails() throws ProtocolException {
        arrives("one", READING);
        arrives("two", READING);
        arrives("three", READING);
        port.answer(PENDING, PENDING, PENDING);
        assertNull(read(10));
        port.complete(port.receive(0), UcsStatus.OK);
        port.complete(port.receive(1), UcsStatus.ERR_CANCELED);
        assertTrue(inbound.poll());
        assertTrue(inbound.isFailed());
        assertEquals("one", readAll());
    }

    @Test
    void keepsTheEarlierMessagesOfABufferWhenOneFails() throws ProtocolException {
        arrive(8, 1, PAUSED);
        arrives("here", PAUSED);
        port.answer(UcsStatus.ERR_IO_ERROR);
        arrives("gone", PAUSED);
        assertTrue(inbound.isFailed());
        assertEquals("x".repeat(8) + "here", readAll());
    }

    @Test
    void givesOutNothingThatCameAfterAFailedMessage() throws ProtocolException {
        arrive(8, 1, PAUSED);
        arrives("here", PAUSED);
        port.answer(PENDING);
        arrives("gone", PAUSED);
        arrives("after", PAUSED);
        port.complete(port.receive(1), UcsStatus.ERR_IO_ERROR);
        inbound.poll();
        assertEquals("x".repeat(8) + "here", readAll());
    }

    @Test
    void dropsWhatArrivesAfterAFailure() throws ProtocolException {
        inbound.fail(UcsStatus.ERR_IO_ERROR);
        assertTrue(port.isDropped(arrives("late", READING)));
        assertFalse(inbound.isReadable());
    }

    @Test
    void staysFailedWhenNobodyReadsAnyMore() {
        inbound.fail(UcsStatus.ERR_IO_ERROR);
        inbound.discard();
        assertTrue(inbound.isFailed());
    }
}
