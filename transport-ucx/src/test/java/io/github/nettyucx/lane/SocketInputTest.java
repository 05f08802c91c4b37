// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.socket.Epoll;
import io.github.nettyucx.socket.KernelSocket;
import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.wire.Traffic;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a lane reads from its socket, and how many calls that takes. */
class SocketInputTest {

    private static final byte[] HELLO = "hello".getBytes();
    private static final int PLENTY = 4096;

    private LanePair pair;

    @BeforeEach
    void connect() throws IOException {
        pair = new LanePair();
    }

    @AfterEach
    void disconnect() throws IOException {
        pair.close();
    }

    private LaneEnd laneThatWants() throws IOException {
        LaneEnd end = pair.farLane();
        end.lane.wanted(true);
        return end;
    }

    private void arrive(LaneEnd end, byte... bytes) throws IOException {
        int before = end.inputNews;
        Raw.send(pair.near, bytes);
        pair.await("bytes", () -> end.inputNews > before);
    }

    @Test
    void aNewLaneHasNothingToRead() throws IOException {
        LaneEnd end = laneThatWants();
        assertFalse(end.lane.isReadable());
        assertEquals(0, end.read(PLENTY));
        assertFalse(end.lane.isAtEnd());
        assertFalse(end.lane.isInputFinished());
    }

    @Test
    void oneReadIsEnoughIfItGotLessThanItAskedFor() throws IOException {
        LaneEnd end = laneThatWants();
        for (int i = 0; i < 3; i++) {
            arrive(end, HELLO);
            assertTrue(end.lane.isReadable());
            assertEquals(HELLO.length, end.read(PLENTY));
            assertFalse(end.lane.isReadable(), "a second call would find nothing");
        }
        assertEquals("hellohellohello", end.input.toString());
    }

    @Test
    void aReadThatGotAllItAskedForIsFollowedByAnother() throws IOException {
        LaneEnd end = laneThatWants();
        arrive(end, HELLO);
        assertEquals(HELLO.length, end.read(HELLO.length));
        assertTrue(end.lane.isReadable());
        assertEquals(0, end.read(PLENTY));
        assertFalse(end.lane.isReadable());
        arrive(end, HELLO);
        assertEquals(HELLO.length, end.read(PLENTY));
    }

    @Test
    void bytesCanBeReadOneByOne() throws IOException {
        LaneEnd end = laneThatWants();
        arrive(end, Raw.bytes(300, 1));
        for (int i = 0; i < 300; i++) {
            assertEquals(1, end.read(1));
        }
        assertArrayEquals(Raw.bytes(300, 1), end.bytes());
    }

    @Test
    void noMoreThanTheLimitIsReadIntoALargerBuffer() throws IOException {
        LaneEnd end = laneThatWants();
        arrive(end, HELLO);
        ByteBuf large = Unpooled.directBuffer(64).writeZero(7);
        ByteBuf read = end.lane.read(2, limit -> large);
        assertEquals(large, read);
        assertEquals("he", large.toString(7, 2, StandardCharsets.US_ASCII));
        assertEquals(9, large.writerIndex());
        large.release();
    }

    @Test
    void firstBytesAreReadFirst() throws IOException {
        Raw.send(pair.near, HELLO);
        LaneEnd end = pair.farLane(Unpooled.directBuffer().writeBytes("first,".getBytes()));
        end.lane.wanted(true);
        assertEquals(2, end.read(2));
        assertTrue(end.lane.isReadable());
        assertEquals(4, end.read(4));
        pair.await("the rest", () -> end.read(PLENTY) > 0);
        assertEquals("first,hello", end.input.toString());
    }

    @Test
    void firstBytesAndThoseBehindThemComeInOneRead() throws IOException {
        Raw.send(pair.near, HELLO);
        pair.arrived(Epoll.IN);
        LaneEnd end = pair.farLane(Unpooled.directBuffer().writeBytes("first,".getBytes()));
        end.lane.wanted(true);
        assertEquals(11, end.read(PLENTY));
        assertEquals("first,hello", end.input.toString());
        arrive(end, HELLO);
        assertEquals(HELLO.length, end.read(PLENTY));
    }

    @Test
    void firstBytesAreReadThoughNothingIsBehindThem() throws IOException {
        LaneEnd end = pair.farLane(Unpooled.directBuffer().writeBytes(HELLO));
        end.lane.wanted(true);
        assertEquals(HELLO.length, end.read(PLENTY));
        assertFalse(end.lane.isReadable());
        arrive(end, HELLO);
        assertEquals(HELLO.length, end.read(PLENTY));
    }

    @Test
    void firstBytesBeforeTheEndAreReadAndThenTheEndIsThere() throws IOException {
        pair.near.shutdown(false, true);
        pair.arrived(Epoll.RDHUP);
        LaneEnd end = pair.farLane(Unpooled.directBuffer().writeBytes(HELLO));
        end.lane.wanted(true);
        assertFalse(end.lane.isAtEnd());
        assertEquals(HELLO.length, end.read(PLENTY));
        assertTrue(end.lane.isAtEnd());
    }

    @Test
    void firstBytesThatNobodyReadsAreReleased() throws IOException {
        ByteBuf first = Unpooled.directBuffer().writeBytes(HELLO);
        ByteBuf empty = Unpooled.directBuffer();
        pair.farLane(first).close();
        assertEquals(0, first.refCnt());
        new SocketLane(pair.near, pair.engine, Traffic.ofConnection(), empty);
        assertEquals(0, empty.refCnt());
    }

    @Test
    void bytesAreNotLostIfThereIsNoBufferForThem() throws IOException {
        LaneEnd end = laneThatWants();
        arrive(end, HELLO);
        assertThrows(OutOfMemoryError.class, () -> end.lane.read(PLENTY, limit -> {
            throw new OutOfMemoryError("as ordered");
        }));
        assertTrue(end.lane.isReadable());
        assertEquals(HELLO.length, end.read(PLENTY));
    }

    @Test
    void aBufferIsGivenBackIfThereIsNothing() throws IOException {
        LaneEnd end = laneThatWants();
        arrive(end, HELLO);
        end.read(HELLO.length);
        ByteBuf buffer = Unpooled.directBuffer(8);
        assertNull(end.lane.read(8, limit -> buffer));
        assertEquals(0, buffer.refCnt());
    }

    // ------------------------------------------------------------------------------------------- the end

    @Test
    void theEndIsTold() throws IOException {
        LaneEnd end = laneThatWants();
        pair.near.shutdown(false, true);
        pair.await("the end", () -> end.inputNews > 0);
        end.readAll(PLENTY);
        assertTrue(end.lane.isAtEnd());
        assertTrue(end.lane.isOpen());
        assertEquals(CloseReason.ORDERLY, end.lane.closeReason());
    }

    @Test
    void theEndComesAfterTheBytes() throws IOException {
        LaneEnd end = laneThatWants();
        Raw.send(pair.near, HELLO);
        pair.near.shutdown(false, true);
        pair.await("the end", end.lane::isInputFinished);
        assertFalse(end.lane.isAtEnd());
        // Found without another read, which would need a buffer.
        assertEquals(HELLO.length, end.read(PLENTY));
        assertTrue(end.lane.isAtEnd());
        assertFalse(end.lane.isReadable());
    }

    @Test
    void anApplicationThatDoesNotReadIsToldOfTheEnd() throws IOException {
        LaneEnd end = pair.farLane();
        pair.near.shutdown(false, true);
        pair.await("the end", () -> end.inputNews > 0);
        assertTrue(end.lane.isAtEnd());
    }

    @Test
    void bytesInFrontOfTheEndWaitUntilTheyAreRead() throws IOException {
        LaneEnd end = pair.farLane();
        Raw.send(pair.near, HELLO);
        pair.near.shutdown(false, true);
        pair.await("the end", end.lane::isInputFinished);
        assertFalse(end.lane.isAtEnd());
        assertTrue(end.lane.isReadable());
        end.lane.wanted(true);
        assertEquals(2, end.read(2));
        end.lane.wanted(false);
        assertFalse(end.lane.isAtEnd());
        int before = end.inputNews;
        end.lane.wanted(true);
        // Exactly what is there: such a read does not tell that it was the last one.
        assertEquals(3, end.read(3));
        assertFalse(end.lane.isAtEnd());
        end.lane.wanted(false);
        assertTrue(end.lane.isAtEnd());
        assertEquals(before + 1, end.inputNews);
    }

    @Test
    void whatCameBeforeTheLaneIsFound() throws IOException {
        Raw.send(pair.near, HELLO);
        pair.near.shutdown(false, true);
        // The event for both is taken before the lane is there.
        pair.arrived(Epoll.RDHUP);
        LaneEnd end = laneThatWants();
        assertTrue(end.lane.isReadable());
        end.readAll(PLENTY);
        assertEquals("hello", end.input.toString());
        assertTrue(end.lane.isAtEnd());
    }

    @Test
    void anEndThatCameBeforeTheLaneIsFoundWithoutReading() throws IOException {
        pair.near.shutdown(false, true);
        pair.arrived(Epoll.RDHUP);
        assertTrue(pair.farLane().lane.isAtEnd());
    }

    @Test
    void anEndThatCameBeforeTheLaneIsFoundBehindTheFirstBytes() throws IOException {
        pair.near.shutdown(false, true);
        pair.arrived(Epoll.RDHUP);
        LaneEnd end = pair.farLane(Unpooled.directBuffer().writeBytes(HELLO));
        assertFalse(end.lane.isAtEnd());
        end.read(PLENTY);
        end.lane.wanted(false);
        assertTrue(end.lane.isAtEnd());
    }

    @Test
    void bytesBehindAnUrgentOneAreRead() throws IOException {
        try (KernelSocket listening = KernelSocket.stream(false)) {
            listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listening.listen(1);
            try (Socket peer = new Socket(InetAddress.getLoopbackAddress(), listening.localAddress().getPort());
                 LanePair own = new LanePair(accepted(listening))) {
                LaneEnd end = own.farLane();
                end.lane.wanted(true);
                peer.setTcpNoDelay(true);
                peer.getOutputStream().write("before".getBytes());
                peer.sendUrgentData('!');
                peer.getOutputStream().write("behind".getBytes());
                // All of it has arrived before the first read.
                own.settle();
                own.await("the bytes behind", () -> {
                    end.readAll(PLENTY);
                    return end.input.size() == 12;
                });
                assertEquals("beforebehind", end.input.toString());
            }
        }
    }

    private static KernelSocket accepted(KernelSocket listening) throws IOException {
        KernelSocket accepted = listening.accept();
        while (accepted == null) {
            Thread.onSpinWait();
            accepted = listening.accept();
        }
        return accepted;
    }

    // ------------------------------------------------------------------------------------------- nobody reads

    @Test
    void aPeerCanSendToAnApplicationThatReadsNoMore() throws IOException {
        try (LanePair small = new LanePair(8 * 1024, 8 * 1024)) {
            LaneEnd sending = small.nearLane();
            LaneEnd end = small.farLane();
            end.lane.discardInput();
            sendAll(small, sending);
            assertFalse(end.lane.isReadable());
            assertFalse(end.lane.isAtEnd());
        }
    }

    @Test
    void aPeerCanSendToAnApplicationThatHasEndedItsInput() throws IOException {
        try (LanePair small = new LanePair(8 * 1024, 8 * 1024)) {
            LaneEnd sending = small.nearLane();
            LaneEnd end = small.farLane(Unpooled.directBuffer().writeBytes(HELLO));
            end.lane.discardInput();
            assertFalse(end.lane.isReadable());
            sendAll(small, sending);
            assertFalse(end.lane.isReadable());
            assertEquals(0, end.read(PLENTY));
            assertFalse(end.lane.isAtEnd());
        }
    }

    /** More than the buffers of both sides hold. */
    private static void sendAll(LanePair pair, LaneEnd sending) throws IOException {
        sending.add(Unpooled.directBuffer().writeBytes(Raw.bytes(4 * 1024 * 1024, 2)));
        pair.await("everything to be taken", () -> {
            try {
                return sending.write() == Written.DRAINED;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    void unreadBytesDoNotMakeAResetOfAClose() throws Exception {
        // As many as there is room for, and more than are thrown away in one turn.
        try (LanePair large = new LanePair(400_000, 400_000)) {
            LaneEnd end = large.farLane();
            end.add(Unpooled.directBuffer().writeBytes(HELLO));
            end.write();
            Raw.send(large.near, Raw.bytes(150_000, 3));
            large.await("all of it to arrive", () -> large.near.unsent() == 0);
            end.lane.discardInput();
            large.turn();
            large.turn();
            end.lane.finish(true);
            end.close();
            large.far.close();
            ByteArrayOutputStream received = new ByteArrayOutputStream();
            large.await("the end", () -> Raw.receive(large.near, received));
            assertEquals("hello", received.toString());
            assertEquals(0, large.near.pendingError());
        }
    }
}
