// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import org.junit.jupiter.api.Test;

import static io.github.nettyucx.wire.ScriptedPort.INLINE;
import static io.github.nettyucx.wire.ScriptedPort.PENDING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Small messages that have come are received into one buffer of the reader's. */
class JoinedMessagesTest extends InboundFixture {

    @Test
    void receivesSmallMessagesThatHaveComeIntoOneBuffer() throws ProtocolException {
        arrives("one", READING);
        arrives("two", READING);
        arrives("three", READING);
        roomForMore = 100;
        assertEquals("onetwothree", read(WINDOW));
        assertEquals(1, stashes.size());
        assertEquals(11 + 3 * 64, inbound.takeGrant(), "the charges of all of them");
        assertNull(read(WINDOW));
    }

    @Test
    void receivesNoMoreIntoABufferThanItHasRoomForAndTheReaderWants() throws ProtocolException {
        arrives("one", READING);
        arrives("two", READING);
        arrives("three", READING);
        roomForMore = 4;
        assertEquals("onetwo", read(WINDOW));
        arrives("four", READING);
        roomForMore = 100;
        assertEquals("three", read(8));
        assertEquals("four", read(8));
    }

    /** The sender would stand still while the reader takes them piece by piece. */
    @Test
    void owesTheChargesOfMessagesInABufferAsItIsTaken() throws ProtocolException {
        int kept = 8;
        int count = 100;
        // Behind so many UCX's own memory is given back, and the others are in one buffer of the stash.
        arrive(kept + count, 1, PAUSED);
        roomForMore = kept;
        assertEquals("x".repeat(kept), read(kept));
        assertEquals(kept * 65, inbound.takeGrant());
        assertEquals("x".repeat(count / 2), read(count / 2));
        assertEquals(count / 2 * 65, inbound.takeGrant());
        int granted = 0;
        for (String part = read(7); part != null; part = read(7)) {
            granted += inbound.takeGrant();
        }
        assertEquals(count / 2 * 65, granted);
    }

    @Test
    void receivesALargeMessageIntoABufferOfItsOwn() throws ProtocolException {
        arrives("one", READING);
        arrive(1, 4097, READING);
        arrives("two", READING);
        roomForMore = MAX_MESSAGE;
        assertEquals("one", read(WINDOW));
        assertEquals("x".repeat(4097) + "two", read(WINDOW));
    }

    @Test
    void keepsTheEarlierMessagesOfAReadersBufferWhenOneFails() throws ProtocolException {
        arrives("one", READING);
        arrives("two", READING);
        arrives("three", READING);
        roomForMore = 100;
        port.answer(INLINE, UcsStatus.ERR_IO_ERROR);
        assertEquals("one", readAll());
        assertTrue(inbound.isFailed());
    }

    @Test
    void givesOutAReadersBufferWhenTheLastOfItsMessagesIsComplete() throws ProtocolException {
        arrives("one", READING);
        arrives("two", READING);
        arrives("three", READING);
        roomForMore = 100;
        port.answer(INLINE, PENDING);
        assertNull(read(WINDOW));
        port.complete(port.receive(1), UcsStatus.OK);
        assertTrue(inbound.poll());
        assertEquals("onetwothree", readAll());
    }

    @Test
    void keepsTheEarlierMessagesOfAReadersBufferThatUcxStillWritesTo() throws ProtocolException {
        arrives("one", READING);
        arrives("two", READING);
        roomForMore = 100;
        port.answer(INLINE, PENDING);
        assertNull(read(WINDOW));
        inbound.fail(UcsStatus.ERR_CONNECTION_RESET);
        inbound.cutIncomplete(this::stash);
        assertEquals("one", readAll());
    }
}
