// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.wire.CloseReason;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelPromise;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketException;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** How a connection on lane socket ends: in one direction, in both, or badly. */
class SocketLaneEndTest {

    private static final byte[] HELLO = "hello".getBytes();
    private static final int PLENTY = 4096;
    private static final int SEND_BUFFER = 256 * 1024;
    private static final int RECEIVE_BUFFER = 16 * 1024;

    private LanePair pair;
    private LaneEnd end;

    @BeforeEach
    void connect() throws IOException {
        pair = new LanePair();
        end = pair.farLane();
        end.lane.wanted(true);
    }

    @AfterEach
    void disconnect() throws IOException {
        pair.close();
    }

    private void reset() throws IOException {
        pair.near.resetOnClose();
        pair.near.close();
    }

    @Test
    void itSaysWhatItIs() {
        assertEquals(LaneKind.SOCKET, end.lane.kind());
        assertEquals("socket", end.lane.name());
        assertEquals(List.of("socket"), end.lane.transports());
        assertTrue(end.lane.isOpen());
        assertTrue(end.lane.isOutputOpen());
        assertTrue(end.lane.isIdle());
        assertTrue(end.lane.peerReads());
        assertFalse(end.lane.isEndDelivered());
        assertEquals(CloseReason.ABORTED, end.lane.closeReason());
        assertNull(end.lane.failure());
    }

    @Test
    void afterTheOutputHasEndedTheInputGoesOn() throws Exception {
        end.add(Unpooled.directBuffer().writeBytes(HELLO));
        assertEquals(Written.DRAINED, end.write());
        end.lane.finish(false);
        assertFalse(end.lane.isOutputOpen());
        assertTrue(end.lane.isEndDelivered());
        assertEquals(CloseReason.ORDERLY, end.lane.closeReason());
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        pair.await("the end", () -> Raw.receive(pair.near, received));
        assertEquals("hello", received.toString());
        Raw.send(pair.near, HELLO);
        pair.await("bytes", () -> end.read(PLENTY) > 0);
        assertEquals("hello", end.input.toString());
        pair.near.close();
        pair.await("the end of the input", () -> {
            end.readAll(PLENTY);
            return end.lane.isAtEnd();
        });
        assertNull(end.lost);
    }

    @Test
    void afterTheInputHasEndedTheOutputGoesOn() throws Exception {
        pair.near.shutdown(false, true);
        pair.await("the end", () -> {
            end.readAll(PLENTY);
            return end.lane.isAtEnd();
        });
        end.add(Unpooled.directBuffer().writeBytes(HELLO));
        assertEquals(Written.DRAINED, end.write());
        end.lane.finish(true);
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        pair.await("the end", () -> Raw.receive(pair.near, received));
        assertEquals("hello", received.toString());
        assertEquals(CloseReason.ORDERLY, end.lane.closeReason());
    }

    @Test
    void aResetIsTold() throws IOException {
        reset();
        pair.await("the reset", () -> end.lost != null);
        assertInstanceOf(SocketException.class, end.lost);
        assertEquals("Connection reset by peer", end.lost.getMessage());
        end.readAll(PLENTY);
        assertFalse(end.lane.isAtEnd());
        assertFalse(end.lane.isOpen());
        assertFalse(end.lane.isOutputOpen());
        assertFalse(end.lane.isInputFinished());
        assertSame(end.lost, end.lane.failure());
        assertEquals(CloseReason.RESET_BY_PEER, end.lane.closeReason());
        assertEquals(1, end.losses);
    }

    @Test
    void aResetIsToldToAnApplicationThatDoesNotRead() throws IOException {
        end.lane.wanted(false);
        Raw.send(pair.near, HELLO);
        pair.settle();
        reset();
        pair.await("the reset", () -> end.lost != null);
        assertEquals(CloseReason.RESET_BY_PEER, end.lane.closeReason());
    }

    @Test
    void whatCameBeforeAResetCanBeRead() throws IOException {
        Raw.send(pair.near, HELLO);
        reset();
        pair.await("the reset", () -> end.lost != null);
        end.readAll(2);
        assertEquals("hello", end.input.toString());
        assertFalse(end.lane.isAtEnd());
        assertFalse(end.lane.isReadable());
        assertEquals(1, end.losses);
    }

    @Test
    void aResetThatCameBeforeTheLaneIsTold() throws IOException {
        try (LanePair other = new LanePair()) {
            other.near.resetOnClose();
            other.near.close();
            other.arrived(Epoll.RDHUP);
            LaneEnd late = other.farLane();
            assertNotNull(late.lost);
            assertFalse(late.lane.isOpen());
        }
    }

    @Test
    void aWriteThatFailsDoesNotDiscardWhatHasArrived() throws Exception {
        Raw.send(pair.near, HELLO);
        reset();
        ChannelPromise promise = end.add(Unpooled.directBuffer().writeBytes(HELLO));
        // The lane has not looked at the event: the write is the first to notice.
        pair.arrived(Epoll.RDHUP);
        assertEquals(Written.WAITING, end.write());
        assertEquals(1, end.losses);
        assertFalse(promise.isDone());
        assertFalse(end.lane.isOutputOpen());
        assertTrue(end.lane.isReadable());
        end.readAll(PLENTY);
        assertEquals("hello", end.input.toString());
        assertFalse(end.lane.isAtEnd());
        pair.settle();
        assertEquals(1, end.losses);
        assertEquals(Written.WAITING, end.write());
        assertEquals(CloseReason.RESET_BY_PEER, end.lane.closeReason());
    }

    /** A peer that answers and closes, and resets because of what it did not read. */
    @Test
    void aStreamThatHasEndedIsReadToItsEndThoughTheOutputBreaks() throws Exception {
        Raw.send(pair.near, HELLO);
        pair.near.shutdown(false, true);
        end.add(Unpooled.directBuffer().writeBytes(HELLO));
        assertEquals(Written.DRAINED, end.write());
        pair.near.close();
        pair.arrived(Epoll.HUP);
        pair.settle();
        assertNull(end.lost);
        assertTrue(end.lane.isInputFinished());
        end.add(Unpooled.directBuffer().writeBytes(HELLO));
        assertEquals(Written.WAITING, end.write());
        assertEquals("Broken pipe", end.lost.getMessage());
        end.readAll(PLENTY);
        assertEquals("hello", end.input.toString());
        assertTrue(end.lane.isAtEnd());
        assertEquals(CloseReason.ORDERLY, end.lane.closeReason());
    }

    /** The same, before the lane has looked at any event. */
    @Test
    void aBrokenOutputDoesNotMakeALossOfAnEnd() throws Exception {
        Raw.send(pair.near, HELLO);
        pair.near.shutdown(false, true);
        end.add(Unpooled.directBuffer().writeBytes(HELLO));
        assertEquals(Written.DRAINED, end.write());
        pair.near.close();
        pair.arrived(Epoll.HUP);
        end.add(Unpooled.directBuffer().writeBytes(HELLO));
        assertEquals(Written.WAITING, end.write());
        assertEquals("Broken pipe", end.lost.getMessage());
        end.readAll(PLENTY);
        assertEquals("hello", end.input.toString());
        assertTrue(end.lane.isAtEnd());
        assertEquals(CloseReason.ORDERLY, end.lane.closeReason());
    }

    @Test
    void aCloseWithResetIsOneToThePeer() throws IOException {
        end.lane.close(true);
        pair.far.close();
        LaneEnd peer = pair.nearLane();
        pair.await("the reset", () -> {
            peer.readAll(PLENTY);
            return peer.lost != null;
        });
        assertEquals(CloseReason.RESET_BY_PEER, peer.lane.closeReason());
    }

    @Test
    void aCloseWithoutResetIsAnEndToThePeer() throws IOException {
        end.lane.close(false);
        pair.far.close();
        LaneEnd peer = pair.nearLane();
        pair.await("the end", () -> {
            peer.readAll(PLENTY);
            return peer.lane.isAtEnd();
        });
        assertNull(peer.lost);
    }

    @Test
    void aCloseDeliversWhatTheKernelHasThoughMuchLiesUnread() throws Exception {
        try (LanePair slow = new LanePair(SEND_BUFFER, RECEIVE_BUFFER)) {
            LaneEnd closing = slow.farLane();
            Raw.send(slow.near, new byte[RECEIVE_BUFFER / 4]);
            byte[] bytes = Raw.bytes(SEND_BUFFER / 2, 1);
            closing.add(Unpooled.directBuffer().writeBytes(bytes));
            assertEquals(Written.DRAINED, closing.write());
            slow.settle();
            assertTrue(closing.socket.unsent() > 0, "nothing is left for the kernel to send");
            closing.lane.close(false);
            slow.far.close();
            ByteArrayOutputStream received = new ByteArrayOutputStream();
            slow.await("the end", () -> Raw.receive(slow.near, received));
            assertArrayEquals(bytes, received.toByteArray());
        }
    }

    @Test
    void aClosedLaneDoesNothingMore() throws Exception {
        end.close();
        Raw.send(pair.near, HELLO);
        pair.settle();
        assertEquals(0, end.inputNews);
        assertFalse(end.lane.isReadable());
        assertEquals(0, end.read(PLENTY));
        assertFalse(end.lane.isOpen());
        assertFalse(end.lane.isOutputOpen());
        end.lane.wanted(false);
        end.lane.wanted(true);
        end.lane.discardInput();
        end.lane.discardInput();
        end.lane.finish(true);
        end.lane.close(true);
        assertEquals(0, end.losses);
    }

    // ------------------------------------------------------------------------------------------- re-entrant

    @Test
    void theListenerMayReadWithinTheCall() throws IOException {
        end.reaction = () -> end.readAll(2);
        Raw.send(pair.near, HELLO);
        pair.near.shutdown(false, true);
        pair.await("the end", end.lane::isAtEnd);
        assertEquals("hello", end.input.toString());
    }

    @Test
    void theListenerMayWriteAndFinishWithinTheCall() throws IOException {
        end.reaction = () -> {
            end.readAll(PLENTY);
            if (end.lane.isOutputOpen()) {
                end.add(Unpooled.directBuffer().writeBytes("answer".getBytes()));
                try {
                    assertEquals(Written.DRAINED, end.write());
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                end.lane.finish(true);
            }
        };
        Raw.send(pair.near, HELLO);
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        pair.await("the end", () -> Raw.receive(pair.near, received));
        assertEquals("answer", received.toString());
    }

    @Test
    void theListenerMayCloseWithinTheCallForInput() throws IOException {
        end.reaction = end::close;
        Raw.send(pair.near, HELLO);
        pair.await("the close", () -> !end.lane.isOpen());
        pair.settle();
        assertEquals(1, end.inputNews);
    }

    @Test
    void theListenerMayCloseWithinTheCallForALoss() throws IOException {
        end.reaction = end::close;
        Raw.send(pair.near, HELLO);
        reset();
        pair.await("the close", () -> !end.lane.isOpen());
        pair.settle();
        assertEquals(1, end.inputNews + end.losses);
    }

    @Test
    void theListenerMayCloseWithinTheCallForOutput() throws Exception {
        end.add(Unpooled.directBuffer(16 * 1024 * 1024).writeZero(16 * 1024 * 1024));
        assertEquals(Written.WAITING, end.write());
        Raw.send(pair.near, HELLO);
        end.reaction = end::close;
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        pair.await("the close", () -> {
            Raw.receive(pair.near, received);
            return !end.lane.isOpen();
        });
        assertEquals(1, end.inputNews + end.outputNews);
    }
}
