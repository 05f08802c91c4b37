// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import io.netty.util.IllegalReferenceCountException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.SocketException;
import java.util.List;

import static io.github.nettyucx.wire.ScriptedPort.INLINE;
import static io.github.nettyucx.wire.ScriptedPort.PENDING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LostConnectionTest extends ConnectionFixture {

    // ------------------------------------------------------------------------------------------- loss

    @Test
    void isResetWhenTheEndpointFails() {
        open();
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        assertFailed(SocketException.class, "Connection reset by peer");
    }

    @Test
    void isResetWhenTheEndpointTimesOut() {
        open();
        connection.endpointFailed(UcsStatus.ERR_ENDPOINT_TIMEOUT);
        assertFailed(SocketException.class, "Connection reset by peer");
    }

    @Test
    void tellsAnyOtherReason() {
        open();
        connection.endpointFailed(UcsStatus.ERR_IO_ERROR);
        assertFailed(SocketException.class, "Connection lost: IO_ERROR");
    }

    @Test
    void givesOutWhatHadArrivedBeforeTheLoss() {
        open();
        port.deliver(Tag.DATA, 0, text("last words"));
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        assertEquals("last words", read(100));
        assertFalse(connection.inbound().isAtEnd());
    }

    @Test
    void endsInOrderWhenThePeerGoesAfterItsEnd() {
        open();
        port.deliver(Tag.DATA, 0, text("last words"));
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        told.clear();
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        assertEquals(List.of("output", "input"), told);
        assertNull(failure);
        assertTrue(connection.outbound().isFailed());
        assertEquals("last words", read(100));
        assertTrue(connection.inbound().isAtEnd());
    }

    @Test
    void waitsForNoAcknowledgementOfAPeerThatHasGone() {
        open();
        connection.outbound().finish(true);
        connection.settle();
        port.deliver(Tag.FIN, Tag.FIN_CLOSE);
        told.clear();
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        assertEquals(List.of("output", "acknowledged", "input"), told);
    }

    @Test
    void endsInOrderWhenItHasFetchedTheLastBytesBeforeItLearnsThatThePeerIsGone() {
        open();
        port.deliver(Tag.DATA, 0, text("last words"));
        port.answer(PENDING);
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        port.completeAll();
        told.clear();
        connection.peerGone(new SocketException("Connection reset by peer"));
        assertEquals(List.of("output", "input"), told);
        assertEquals(0, port.sent.size(), "nobody is there to be told");
        assertEquals("last words", read(100));
        assertTrue(connection.inbound().isAtEnd());
    }

    @Test
    void isResetWhenThePeerGoesBeforeAllItsBytesWereFetched() {
        open();
        port.deliver(Tag.DATA, 0, text("here"));
        port.deliver(Tag.DATA, 0, text("never"));
        port.answer(INLINE, PENDING);
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        assertFailed(SocketException.class, "Connection reset by peer");
        assertEquals("here", read(100));
        assertNull(read(100));
        assertFalse(connection.inbound().isAtEnd(), "a stream that is cut short has no end");
    }

    /** The application has released a part of a message twice, and so all of it. */
    @Test
    void isLostWhenTheNextBytesHaveBeenReleased() {
        open();
        port.deliver(Tag.DATA, 0, new byte[MAX_MESSAGE]);
        take(1000).release(2);
        port.deliver(Tag.DATA, 0, text("what comes behind"));
        assertNull(read(1000));
        assertFailed(IOException.class, "Connection lost: io.netty.util.IllegalReferenceCountException: bytes that were"
                + " still to be read have been released with the part before them");
        assertEquals(CloseReason.LOST, connection.closeReason());
        assertEquals(1000, connection.inbound().takeGrant(), "granted what has not been read");
        assertFalse(connection.inbound().isReadable());
        assertNull(read(1000), "not what follows without them");
    }

    @Test
    void isLostWhenTheLastPartOfAMessageHasBeenReleased() {
        open();
        port.deliver(Tag.DATA, 0, text("all in all"));
        take(3).release(2);
        assertNull(read(100));
        assertEquals(CloseReason.LOST, connection.closeReason());
    }

    @Test
    void tellsWhoReadsThatTheNextBytesHaveBeenReleasedIfThePeerHasGoneInOrder() {
        open();
        port.deliver(Tag.DATA, 0, text("last words"));
        port.deliver(Tag.FIN, Tag.FIN_CLOSE);
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        take(4).release(2);
        assertThrows(IllegalReferenceCountException.class, () -> take(100));
        assertNull(take(100), "told again");
        assertNull(failure);
    }

    @Test
    void isLostWithTheCauseThatTheControlSocketGives() {
        open();
        port.deliver(Tag.DATA, 0, text("last words"));
        SocketException cause = new SocketException("Connection timed out");
        connection.peerGone(cause);
        assertSame(cause, failure);
        assertEquals("last words", read(100));
        assertFalse(connection.inbound().isAtEnd());
        assertFailed(SocketException.class, "Connection timed out");
    }

    @Test
    void endsInOrderWhenTheControlSocketEndsAfterThePeersEnd() {
        open();
        connection.outbound().finish(false);
        port.deliver(Tag.DATA, 0, text("last words"));
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        told.clear();
        connection.peerGone(new SocketException("Connection reset by peer"));
        assertEquals(List.of("output", "acknowledged", "input"), told);
        assertNull(failure);
        assertEquals("last words", read(100));
        assertTrue(connection.inbound().isAtEnd());
    }

    @Test
    void isLostOnceWhicheverOfTheTwoTellsFirst() {
        open();
        connection.peerGone(new SocketException("Connection reset by peer"));
        connection.endpointFailed(UcsStatus.ERR_IO_ERROR);
        connection.peerGone(new SocketException("again"));
        assertFailed(SocketException.class, "Connection reset by peer");
    }

    @Test
    void leavesWhatIsInFlightToTheWorkerAtOnce() {
        open();
        port.answer(PENDING, PENDING);
        send(10);
        port.deliver(Tag.DATA, 0, text("never"));
        assertNull(read(10));
        connection.peerGone(new SocketException("Connection reset by peer"));
        assertTrue(connection.outbound().isIdle());
        assertFalse(connection.inbound().isInFlight());
        assertEquals(0, port.poll());
        assertFalse(port.isTracked(), "a connection that is lost and not closed costs the loop nothing");
    }

    // ------------------------------------------------------------------------------------------- promised input

    /** The peer has sent its answer and its end, has been told that they are here, and is gone. */
    private void answerAndLeave() {
        port.deliver(Tag.DATA, 0, text("the answer "));
        port.deliver(Tag.DATA, 0, text("in full"));
        port.deliver(Tag.FIN, Tag.FIN_CLOSE);
        assertEquals(Tag.of(PEER, Tag.FIN_ACK, 0), port.sent.getLast().tag());
    }

    private void assertTheAnswerIsThere() {
        assertNull(failure, "only the write has failed");
        assertTrue(connection.outbound().isFailed());
        assertEquals(0, connection.outbound().room());
        assertTrue(connection.inbound().isReadable());
        assertEquals("the answer ", read(100));
        assertTrue(connection.inbound().isReadable());
        assertFalse(connection.inbound().isAtEnd());
        assertEquals("in full", read(100));
        assertTrue(connection.inbound().isAtEnd());
        assertEquals(CloseReason.ORDERLY, connection.closeReason());
    }

    @Test
    void keepsPromisedInputWhenALateWriteCannotBePosted() {
        open();
        answerAndLeave();
        port.answer(UcsStatus.ERR_CONNECTION_RESET);
        send(10);
        port.poll();
        assertTheAnswerIsThere();
    }

    @Test
    void keepsPromisedInputWhenALateWriteFails() {
        open();
        answerAndLeave();
        port.answer(PENDING);
        send(10);
        port.complete(port.lastRequest(), UcsStatus.ERR_CANCELED);
        port.poll();
        assertTheAnswerIsThere();
    }

    @Test
    void keepsPromisedInputWhenALateWriteFailsWithTheLink() {
        open();
        answerAndLeave();
        port.failing();
        port.answer(UcsStatus.ERR_CONNECTION_RESET);
        send(10);
        port.poll();
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        assertTheAnswerIsThere();
    }

    @Test
    void keepsPromisedInputWhenTheControlSocketEndsDuringALateWrite() {
        open();
        answerAndLeave();
        port.answer(PENDING);
        send(10);
        connection.peerGone(new SocketException("Connection reset by peer"));
        assertTheAnswerIsThere();
    }

    @Test
    void keepsPromisedInputWhateverThePeerDoesAfterItsEnd() {
        open();
        answerAndLeave();
        port.deliver(Tag.FIN, Tag.FIN_CLOSE);
        assertFailed(ProtocolException.class, "the peer ended its stream twice");
        assertEquals("the answer ", read(100));
        assertEquals("in full", read(100));
        assertTrue(connection.inbound().isAtEnd());
    }

    // ------------------------------------------------------------------------------------------- operations

    @Test
    void failsWithAnOperationThatFailsWithoutTheEndpoint() {
        open();
        port.answer(PENDING);
        send(10);
        port.complete(port.lastRequest(), UcsStatus.ERR_IO_ERROR);
        port.poll();
        connection.outbound().completed();
        port.poll();
        assertFailed(SocketException.class, "Connection lost: IO_ERROR");
    }

    @Test
    void failsWithAReceiveThatFailsWithoutTheEndpoint() {
        open();
        port.deliver(Tag.DATA, 0, text("never"));
        port.answer(UcsStatus.ERR_NO_MEMORY);
        assertNull(read(10));
        assertTrue(port.isTracked(), "the next turn has to look at it");
        port.poll();
        assertFailed(SocketException.class, "Connection lost: NO_MEMORY");
    }

    @Test
    void failsWithAnAcknowledgementThatCannotBeSent() {
        open();
        port.answer(UcsStatus.ERR_IO_ERROR);
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        port.poll();
        assertFalse(connection.isOpen());
        assertTrue(connection.outbound().isFailed());
    }

    @Test
    void waitsForTheEndpointsReasonWhenAnOperationFailsBecauseOfIt() {
        open();
        port.answer(UcsStatus.ERR_CANCELED);
        port.failing();
        send(10);
        port.poll();
        assertNull(failure);
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        assertFailed(SocketException.class, "Connection reset by peer");
    }

    @Test
    void dropsWhatArrivesAfterTheLoss() {
        open();
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        told.clear();
        assertTrue(port.isDropped(port.deliver(Tag.DATA, 0, text("late"))));
        port.deliver(Tag.FIN, 0);
        assertEquals(List.of(), told);
    }

    // ------------------------------------------------------------------------------------------- violations

    @ParameterizedTest
    @CsvSource({"0", "5", "15"})
    void refusesUnknownTypes(int type) {
        open();
        port.deliver(type, 0);
        assertFailed(ProtocolException.class, "the peer sent a message of unknown type " + type);
    }

    @Test
    void refusesMoreCreditThanThereIs() {
        open();
        port.deliver(Tag.CREDIT, 1);
        assertFailed(ProtocolException.class, "the peer granted 1 bytes, more than its window has");
    }

    @Test
    void refusesCreditBeforeAnythingWasSent() {
        port.deliver(Tag.DATA, Tag.GRANT_UNIT, text("x"));
        assertFailed(ProtocolException.class, "the peer granted 1024 bytes, more than its window has");
    }

    /** UCX loses nothing over this lane: the peer cannot count. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 31, 500})
    void noticesThatMessagesAreMissing(int lost) {
        open();
        port.deliver(Tag.DATA, 0, text("before"));
        port.lose(lost);
        port.deliver(Tag.DATA, 0, text("behind"));
        assertFailed(ProtocolException.class, "messages of the peer's stream are missing");
        assertEquals(CloseReason.PROTOCOL_VIOLATION, connection.closeReason());
        assertEquals(0, port.losses());
        assertEquals("before", read(WINDOW));
    }

    @Test
    void noticesThatTheLastMessagesAreMissing() {
        open();
        port.deliver(Tag.DATA, 0, text("before"));
        port.lose(1);
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        assertFailed(ProtocolException.class, "messages of the peer's stream are missing at its end");
        assertEquals("before", read(WINDOW));
        assertFalse(connection.inbound().isFinished(), "taken for a whole stream");
    }

    @Test
    void refusesAnAcknowledgementThatItDidNotAskFor() {
        open();
        port.deliver(Tag.FIN_ACK, 0);
        assertFailed(ProtocolException.class, "the peer acknowledged an end of stream that was not sent");
    }

    @Test
    void refusesASecondAcknowledgement() {
        open();
        connection.outbound().finish(false);
        port.deliver(Tag.FIN_ACK, 0);
        port.deliver(Tag.FIN_ACK, 0);
        assertFailed(ProtocolException.class, "the peer acknowledged an end of stream that was not sent");
    }

    @Test
    void refusesASecondEnd() {
        open();
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        assertFailed(ProtocolException.class, "the peer ended its stream twice");
    }

    @Test
    void refusesDataAfterTheEnd() {
        open();
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        port.deliver(Tag.DATA, 0, text("x"));
        assertFailed(ProtocolException.class, "the peer sent data after the end of its stream");
    }

    @Test
    void refusesEmptyData() {
        open();
        port.deliver(Tag.DATA, 0);
        assertFailed(ProtocolException.class, "the peer sent a message of 0 bytes; expected 1 to 4096");
    }

    /** The length is the peer's word. It must not be taken for a small one. */
    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Integer.MIN_VALUE, 0xFFFFFFFF00000400L, 1L << 32 | 1})
    void refusesDataThatClaimsToBeHuge(long length) {
        open();
        port.deliverClaim(length);
        assertFailed(ProtocolException.class, "the peer sent a message of " + Long.toUnsignedString(length)
                + " bytes; expected 1 to 4096");
        assertNull(read(WINDOW));
    }

    @Test
    void refusesDataThatIsTooLong() {
        open();
        port.deliver(Tag.DATA, 0, new byte[MAX_MESSAGE + 1]);
        assertFailed(ProtocolException.class, "the peer sent a message of 4097 bytes; expected 1 to 4096");
    }

    @Test
    void refusesMoreThanTheWindow() {
        open();
        for (int i = 0; i < 3; i++) {
            port.deliver(Tag.DATA, 0, new byte[MAX_MESSAGE]);
        }
        port.deliver(Tag.DATA, 0, new byte[MAX_MESSAGE]);
        assertFailed(ProtocolException.class,
                "the peer sent 256 bytes more than its credit allows (window: 16384 bytes)");
        assertEquals(MAX_MESSAGE, read(WINDOW).length(), "what came before can be read");
    }

    @Test
    void refusesControlMessagesWithBytes() {
        open();
        port.deliver(Tag.CREDIT, 0, text("why?"));
        assertFailed(ProtocolException.class, "the peer sent 4 bytes with a message of type 2; expected none");
    }
}
