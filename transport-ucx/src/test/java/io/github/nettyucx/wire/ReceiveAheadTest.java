// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import org.junit.jupiter.api.Test;

import static io.github.nettyucx.wire.ScriptedPort.PENDING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Messages that are fetched before a read has met them, because fetching takes time. */
class ReceiveAheadTest extends InboundFixture {

    @Test
    void receivesEightAheadAtMost() throws ProtocolException {
        arrive(20, 1, READING);
        for (int i = 0; i < 20; i++) {
            port.answer(PENDING);
        }
        assertNull(read(WINDOW));
        assertEquals(8, port.receiveCount());
        assertNull(read(WINDOW));
        assertEquals(8, port.receiveCount());
    }

    @Test
    void fetchesWhatArrivesWhileAnotherMessageIsBeingFetched() throws ProtocolException {
        arrives("one", READING);
        port.answer(PENDING, PENDING, PENDING);
        assertNull(read(WINDOW));
        arrives("two", READING);
        arrives("three", READING);
        assertEquals(3, port.receiveCount(), "the peer is not left idle until the first one is here");
        port.completeAll();
        assertTrue(inbound.poll());
        assertEquals("onetwothree", readAll());
    }

    @Test
    void fetchesTheNextMessageWithEachOneThatIsRead() throws ProtocolException {
        arrive(20, 1, READING);
        for (int i = 0; i < 20; i++) {
            port.answer(PENDING);
        }
        assertNull(read(WINDOW));
        port.complete(port.receive(0), UcsStatus.OK);
        inbound.poll();
        assertEquals("x", read(WINDOW));
        assertEquals(9, port.receiveCount());
    }

    @Test
    void keepsEightUnderWayAlsoWhenAllHaveCompletedAtOnce() throws ProtocolException {
        arrive(20, 1, READING);
        for (int i = 0; i < 20; i++) {
            port.answer(PENDING);
        }
        assertNull(read(WINDOW));
        port.completeAll();
        inbound.poll();
        for (int i = 1; i <= 8; i++) {
            assertEquals("x", read(WINDOW));
            assertEquals(8 + i, port.receiveCount());
        }
    }

    @Test
    void fetchesNothingAheadOfAReaderThatPauses() throws ProtocolException {
        arrives("one", READING);
        port.answer(PENDING);
        assertNull(read(WINDOW));
        arrives("two", PAUSED);
        assertEquals(1, port.receiveCount());
    }

    @Test
    void leavesWhatUcxHasInItsHandsToTheBufferOfItsReader() throws ProtocolException {
        arrive(3, 1, READING);
        assertEquals("x", read(WINDOW));
        arrive(1, 1, READING);
        assertEquals(1, port.receiveCount());
    }

    @Test
    void readsOnWhenThereIsNoMemoryToFetchAhead() throws ProtocolException {
        arrives("one", READING);
        port.answer(PENDING);
        assertNull(read(WINDOW));
        noMemory = true;
        arrives("two", READING);
        port.complete(port.receive(0), UcsStatus.OK);
        inbound.poll();
        assertEquals("one", read(WINDOW));
        noMemory = false;
        assertEquals("two", read(WINDOW));
    }

    @Test
    void readsOnWhenTheAllocatorDoesNotWork() throws ProtocolException {
        arrives("one", READING);
        port.answer(PENDING);
        assertNull(read(WINDOW));
        broken = true;
        arrives("two", READING);
        port.completeAll();
        inbound.poll();
        assertEquals("one", read(WINDOW));
        assertThrows(LinkageError.class, () -> read(WINDOW));
        broken = false;
        assertEquals("two", read(WINDOW));
    }

    @Test
    void asksForTheOldestReceiveOnlyUntilItIsDone() throws ProtocolException {
        arrive(3, 1, READING);
        port.answer(PENDING, PENDING, PENDING);
        assertNull(read(WINDOW));
        int before = port.statusCalls();
        inbound.poll();
        assertEquals(1, port.statusCalls() - before);
        port.completeAll();
        inbound.poll();
        assertEquals(1 + 3, port.statusCalls() - before);
        assertEquals("xxx", readAll());
    }
}
