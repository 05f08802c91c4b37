// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.worker.EndpointPort;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.List;
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

    private List<Long> told() {
        return port.sent.stream().filter(sent -> sent.type() == Tag.COUNT).map(ScriptedPort.Sent::tag).toList();
    }

    private int counts() {
        return told().size();
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
        assertEquals(Tag.ofCount(PEER, 3, true), port.sent.getLast().tag());
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
        assertEquals(Tag.ofCount(PEER, 2, true), port.sent.getLast().tag());
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

    /** Of a large message the announcement can be lost, and then it is under way for ever. */
    @Test
    void whatUcxHasNotTakenIsToldOfAsBegun() {
        open();
        port.answer(PENDING);
        send(10);
        port.second();
        assertEquals(0, counts());
        assertTrue(port.second());
        assertTrue(port.second());
        assertEquals(1, counts(), "told twice");
        assertEquals(Tag.ofCount(PEER, 1, false), port.sent.getLast().tag());
        port.completeAll();
        port.poll();
        connection.outbound().completed();
        assertFalse(port.second());
        assertEquals(2, counts());
        assertEquals(Tag.ofCount(PEER, 1, true), port.sent.getLast().tag());
    }

    /** A loss of as many as the number of a message can count would look like none. */
    @Test
    void isToldInTheMiddleOfManyAsWell() {
        open();
        for (int i = 0; i < 1200; i++) {
            send(1);
            port.deliver(Tag.CREDIT, 1 + Limits.MESSAGE_CHARGE);
        }
        assertEquals(List.of(Tag.ofCount(PEER, 512, false), Tag.ofCount(PEER, 1024, false)), told());
        assertEquals(512, port.sent.stream().map(ScriptedPort.Sent::type).toList().indexOf(Tag.COUNT));
    }

    @Test
    void inTheMiddleOneIsUnderWayAtATime() {
        open();
        for (int i = 0; i < 1030; i++) {
            if (i == 512) {
                // The count, before the message.
                port.answer(PENDING);
            }
            send(1);
            port.deliver(Tag.CREDIT, 1 + Limits.MESSAGE_CHARGE);
        }
        assertEquals(List.of(Tag.ofCount(PEER, 512, false)), told());
        port.completeAll();
        port.poll();
        send(1);
        assertEquals(List.of(Tag.ofCount(PEER, 512, false), Tag.ofCount(PEER, 1030, false)), told());
    }

    /** Nothing follows it. */
    @Test
    void aCountInTheMiddleThatCannotBeSentEndsTheConnection() {
        open();
        for (int i = 0; i < 512; i++) {
            send(1);
            port.deliver(Tag.CREDIT, 1 + Limits.MESSAGE_CHARGE);
        }
        port.answer(UcsStatus.ERR_IO_ERROR);
        send(1);
        assertEquals(Tag.COUNT, port.sent.getLast().type());
        port.poll();
        assertFailed(IOException.class, "Connection lost: " + EndpointPort.nameOf(UcsStatus.ERR_IO_ERROR));
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
        assertEquals(Tag.ofCount(PEER, 2, false), port.sent.getLast().tag());
        sending = false;
        port.second();
        assertEquals(Tag.ofCount(PEER, 2, true), port.sent.getLast().tag());
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
        assertEquals(CloseReason.LOST, connection.closeReason());
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

    /** What UCX still needs the peer for may take its time. */
    @Test
    void nothingIsMissedOfWhatHasOnlyBegun() {
        open();
        port.deliver(Tag.DATA, 0, text("a rendezvous"));
        port.answer(PENDING);
        assertNull(read(100));
        port.deliverBegun(1);
        port.poll();
        assertNull(failure);
        assertEquals(0, port.losses());
        port.completeAll();
        port.poll();
        assertEquals("a rendezvous", read(100));
    }

    /** The announcement is. */
    @Test
    void aMessageThatHasOnlyBegunIsMissed() {
        open();
        port.lose(1);
        port.deliverBegun(1);
        assertFailed(ProtocolException.class, MISSING);
        assertEquals(1, port.losses());
    }

    /** UCX has less room to receive into than before. */
    @Test
    void whoMissesSomethingTellsThePort() {
        open();
        port.lose(1024);
        port.deliver(Tag.DATA, 0, text("behind"));
        assertNull(failure, "the number says nothing of so many");
        count(1025);
        assertFailed(ProtocolException.class, MISSING);
        assertEquals(1, port.losses());
    }

    @ParameterizedTest
    @ValueSource(ints = {Tag.DATA, Tag.FIN})
    void whatComesNextTellsOfALoss(int next) {
        open();
        port.lose(1);
        port.deliver(next, 0, text(next == Tag.DATA ? "behind" : ""));
        assertEquals(CloseReason.LOST, connection.closeReason());
        assertEquals(1, port.losses());
    }

    @Test
    void anotherViolationIsNoLoss() {
        open();
        port.deliver(Tag.CREDIT, 1);
        assertFailed(ProtocolException.class, "the peer granted 1 bytes, more than its window has");
        assertEquals(0, port.losses());
    }

    /** What comes behind a receive that has failed is not counted, and is not the reason. */
    @ParameterizedTest
    @ValueSource(ints = {Tag.FIN, Tag.COUNT})
    void aFailureIsNotTakenForALoss(int end) {
        open();
        port.deliver(Tag.DATA, 0, text("in the way"));
        port.answer(UcsStatus.ERR_IO_ERROR);
        assertNull(read(100));
        port.deliver(Tag.DATA, 0, text("behind"));
        port.deliver(end, end == Tag.FIN ? Tag.FIN_HALF : 2);
        port.poll();
        assertFailed(IOException.class, "Connection lost: " + EndpointPort.nameOf(UcsStatus.ERR_IO_ERROR));
        assertEquals(0, port.losses());
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
