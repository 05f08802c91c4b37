// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import org.junit.jupiter.api.Test;

import java.net.SocketException;
import java.util.List;

import static io.github.nettyucx.wire.ScriptedPort.PENDING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A connection whose handshake is not over: the peer's can be, and its messages faster than its last word. */
class OpeningTest extends ConnectionFixture {

    @Test
    void hasItsIdFromTheFirst() {
        assertTrue(port.isRegistered());
        assertFalse(port.isTracked(), "nothing is in flight");
    }

    @Test
    void sendsNothing() {
        assertFalse(connection.isOpen());
        assertEquals(0, connection.outbound().room());
        connection.outbound().finish(true);
        connection.settle();
        assertEquals(0, port.sent.size());
    }

    @Test
    void mayBeSentToWhenItIsOpen() {
        open();
        assertEquals(MAX_MESSAGE, connection.outbound().room());
        assertEquals(0, port.sent.size());
        assertFalse(port.isTracked());
    }

    @Test
    void takesMessagesAndAnswersThemWhenItIsOpen() {
        port.deliver(Tag.DATA, 0, text("early"));
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        assertEquals(List.of("input", "input"), told);
        assertEquals(0, port.sent.size(), "where to is not known yet");
        told.clear();
        open();
        assertEquals(Tag.of(PEER, Tag.FIN_ACK, 0), port.sent.getLast().tag());
        assertEquals("early", read(10));
        assertTrue(connection.inbound().isAtEnd());
    }

    @Test
    void grantsWhenItIsOpenForWhatItHasThrownAwayBefore() {
        port.deliver(Tag.DATA, 0, new byte[MAX_MESSAGE]);
        connection.discardInput();
        assertEquals(0, port.sent.size());
        told.clear();
        open();
        assertEquals(Tag.of(PEER, Tag.CREDIT, MAX_MESSAGE + 64), port.sent.getLast().tag());
    }

    @Test
    void keepsNoMoreThanTheWindow() {
        for (int i = 0; i < 3; i++) {
            port.deliver(Tag.DATA, 0, new byte[MAX_MESSAGE]);
        }
        port.deliver(Tag.DATA, 0, new byte[MAX_MESSAGE]);
        assertFailed(ProtocolException.class,
                "the peer sent 256 bytes more than its credit allows (window: 16384 bytes)");
        assertEquals(CloseReason.PROTOCOL_VIOLATION, connection.closeReason());
    }

    @Test
    void takesNoCreditForWhatItCannotHaveSent() {
        port.deliver(Tag.CREDIT, 1);
        assertFailed(ProtocolException.class, "the peer granted 1 bytes, more than its window has");
    }

    @Test
    void takesNoAcknowledgementOfAnEndThatItCannotHaveSent() {
        port.deliver(Tag.FIN_ACK, 0);
        assertFailed(ProtocolException.class, "the peer acknowledged an end of stream that was not sent");
    }

    @Test
    void pollsTheReceivesOfWhatItCannotHold() {
        for (int i = 0; i < 8; i++) {
            port.deliver(Tag.DATA, 0, text("x"));
        }
        port.answer(PENDING);
        port.deliver(Tag.DATA, 0, text("later"));
        assertTrue(port.isTracked());
        port.completeAll();
        port.poll();
        assertFalse(port.isTracked());
        told.clear();
        open();
        for (int i = 0; i < 8; i++) {
            assertEquals("x", read(10));
        }
        assertEquals("later", read(10));
    }

    @Test
    void isLostWithTheLink() {
        connection.endpointFailed(UcsStatus.ERR_IO_ERROR);
        assertFailed(SocketException.class, "Connection lost: IO_ERROR");
    }

    @Test
    void isLostWithTheControlSocketEvenAfterThePeersEnd() {
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        SocketException cause = new SocketException("Connection reset by peer");
        connection.peerGone(cause);
        assertSame(cause, failure, "there is nobody to speak to");
        assertFailed(SocketException.class, "Connection reset by peer");
    }

    @Test
    void isNotOpenAfterALoss() {
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        connection.open(PEER, WINDOW, MAX_MESSAGE);
        assertFalse(connection.isOpen());
        assertEquals(0, connection.outbound().room());
        assertEquals(List.of("failed"), told);
    }

    @Test
    void canBeClosed() {
        port.deliver(Tag.DATA, 0, text("held"));
        told.clear();
        connection.close();
        connection.open(PEER, WINDOW, MAX_MESSAGE);
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        port.deliver(Tag.DATA, 0, text("late"));
        assertEquals(List.of(), told);
        assertEquals(2, port.droppedCount());
    }
}
