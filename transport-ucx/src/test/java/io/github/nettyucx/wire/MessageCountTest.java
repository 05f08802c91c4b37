// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.worker.EndpointPort;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.function.Supplier;

import static io.github.nettyucx.wire.ScriptedPort.PENDING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Both sides know how many messages there were: so one that is lost is missed, also when nothing comes behind it. */
class MessageCountTest extends ConnectionFixture {

    private static final String LOST = ": UCX loses them where a host has no shared memory left";
    private static final String MISSING = "messages of the peer's are missing" + LOST;
    private static final String PART_MISSING = "parts of the peer's messages are missing" + LOST;

    /** Messages about memory that UCX has not completed. */
    private boolean sending;
    private int toldToMemory;

    MessageCountTest() {
        super(true);
    }

    private void exchange() {
        connection.memory(new MemoryMessages() {
            @Override
            public void opened(int peerChannelId) {
                // It knows.
            }

            @Override
            public void onMessage(int type, int value, long message, long length) {
                port.discard(message);
            }

            @Override
            public boolean isSending() {
                return sending;
            }

            @Override
            public void counted() {
                toldToMemory++;
            }

            @Override
            public void ended(Supplier<IOException> cause) {
                // It has nothing.
            }
        });
    }

    /** What the peer would tell. */
    private void count(int messages) {
        port.deliver(Tag.COUNT, messages);
    }

    private int counts() {
        return (int) port.sent.stream().filter(sent -> sent.type() == Tag.COUNT).count();
    }

    @AfterEach
    void nothingIsWatchedForEver() {
        connection.close();
        port.second();
        assertFalse(port.second());
    }

    // ------------------------------------------------------------------------------------------- telling

    @Test
    void whoHasSentAndThenRestsTellsHowMuchThatWas() {
        open();
        send(10);
        send(10);
        assertTrue(port.second(), "there may be more to come");
        send(10);
        assertTrue(port.second());
        assertEquals(0, counts());
        assertFalse(port.second());
        assertEquals(Tag.of(PEER, Tag.COUNT, 3), port.sent.getLast().tag());
        assertFalse(port.second());
        assertEquals(1, counts(), "told twice");
    }

    @Test
    void whatComesLaterIsToldOfAsWell() {
        open();
        send(10);
        port.second();
        port.second();
        send(10);
        port.second();
        port.second();
        assertEquals(2, counts());
        assertEquals(Tag.of(PEER, Tag.COUNT, 2), port.sent.getLast().tag());
    }

    @Test
    void whoSendsNothingTellsNothing() {
        open();
        port.deliver(Tag.DATA, 0, text("question"));
        read(100);
        connection.settle();
        assertFalse(port.second());
        assertEquals(0, counts());
    }

    @Test
    void nothingIsToldWhileUcxHasNotTakenAll() {
        open();
        port.answer(PENDING);
        send(10);
        port.second();
        assertTrue(port.second());
        assertTrue(port.second());
        assertEquals(0, counts());
        port.completeAll();
        port.poll();
        connection.outbound().completed();
        port.second();
        assertEquals(1, counts());
    }

    @Test
    void anotherCountWaitsForTheOneBeforeIt() {
        open();
        send(10);
        port.second();
        port.answer(PENDING);
        port.second();
        send(10);
        port.second();
        assertTrue(port.second());
        assertEquals(1, counts());
        port.completeAll();
        port.poll();
        port.second();
        assertEquals(2, counts());
    }

    @Test
    void alsoBehindTheEndOfTheStream() {
        open();
        send(10);
        connection.outbound().finish(false);
        connection.settle();
        port.second();
        port.second();
        assertEquals(1, counts());
    }

    @Test
    void messagesAboutMemoryAreCounted() {
        exchange();
        open();
        sending = true;
        connection.sentAboutMemory();
        send(10);
        port.second();
        assertTrue(port.second());
        assertEquals(0, counts());
        sending = false;
        port.second();
        assertEquals(Tag.of(PEER, Tag.COUNT, 2), port.sent.getLast().tag());
    }

    @Test
    void aCountThatCannotBeSentEndsTheConnection() {
        open();
        send(10);
        port.second();
        port.answer(UcsStatus.ERR_IO_ERROR);
        port.second();
        port.poll();
        assertFailed(IOException.class, "Connection lost: " + EndpointPort.nameOf(UcsStatus.ERR_IO_ERROR));
    }

    @Test
    void whoIsClosedTellsNothing() {
        open();
        send(10);
        port.second();
        connection.close();
        assertFalse(port.second());
        assertEquals(0, counts());
    }

    // ------------------------------------------------------------------------------------------- being told

    @Test
    void nothingIsMissingIfAllIsThere() {
        exchange();
        open();
        port.deliver(Tag.DATA, 0, text("a"));
        port.deliver(Tag.MEMORY_REQUEST, 1, text("b"));
        count(2);
        port.poll();
        assertNull(failure);
        assertEquals(1, toldToMemory);
        assertEquals("a", read(100));
    }

    @Test
    void theLastMessageIsMissed() {
        open();
        port.deliver(Tag.DATA, 0, text("question"));
        port.lose(1);
        count(2);
        assertFailed(ProtocolException.class, MISSING);
        assertEquals("question", read(100), "what came before");
    }

    @Test
    void aMessageAboutMemoryIsMissed() {
        exchange();
        open();
        port.deliver(Tag.MEMORY_REQUEST, 1, text("b"));
        count(2);
        assertFailed(ProtocolException.class, MISSING);
    }

    @Test
    void aPartIsMissedOfAMessageThatIsBeingReceived() {
        open();
        port.deliver(Tag.DATA, 0, text("whole"));
        port.deliver(Tag.DATA, 0, text("in parts"));
        assertEquals("whole", read(5));
        port.answer(PENDING);
        assertNull(read(100));
        port.poll();
        assertNull(failure, "it may be on its way");
        count(2);
        port.poll();
        assertFailed(ProtocolException.class, PART_MISSING);
        assertNull(read(100));
    }

    @Test
    void aPartIsMissedOfAMessageThatIsReadLater() {
        open();
        port.deliver(Tag.DATA, 0, text("in parts"));
        count(1);
        port.poll();
        assertNull(failure, "nobody has asked for it");
        port.answer(PENDING);
        assertNull(read(100));
        port.poll();
        assertFailed(ProtocolException.class, PART_MISSING);
    }

    @Test
    void whatCompletesInTheSameTurnIsNotMissing() {
        open();
        port.deliver(Tag.DATA, 0, text("in parts"));
        port.answer(PENDING);
        assertNull(read(100));
        port.completeAll();
        count(1);
        port.poll();
        assertNull(failure);
        assertEquals("in parts", read(100));
    }

    @Test
    void whatComesBehindACountMayTakeItsTime() {
        open();
        port.deliver(Tag.DATA, 0, text("a"));
        count(1);
        assertEquals("a", read(100));
        port.deliver(Tag.DATA, 0, text("a rendezvous"));
        port.answer(PENDING);
        assertNull(read(100));
        port.poll();
        assertNull(failure);
    }
}
