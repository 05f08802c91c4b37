// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.Written;
import io.github.nettyucx.socket.DatagramPort;
import io.github.nettyucx.socket.Errno;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultAddressedEnvelope;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.unix.SegmentedDatagramPacket;
import io.netty.util.IllegalReferenceCountException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What becomes of each message that is written, whatever the socket says to it. */
class DatagramOutputTest {

    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 7);
    private static final int ALL = Integer.MAX_VALUE;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
    private final DatagramOutput output = new DatagramOutput();
    private final ScriptedPort port = new ScriptedPort();

    /** A socket that answers what it was told to, and takes everything when there is nothing left of that. */
    private static final class ScriptedPort implements DatagramPort {

        final ArrayDeque<Integer> answers = new ArrayDeque<>();
        final List<String> sent = new ArrayList<>();

        @Override
        public int receiveFrom(long address, int length) {
            throw new AssertionError("reads");
        }

        @Override
        public InetSocketAddress lastSender() {
            throw new AssertionError("reads");
        }

        @Override
        public int sendTo(long address, int length, InetSocketAddress remote) {
            Integer answer = answers.poll();
            if (answer != null && answer != 0) {
                return answer;
            }
            byte[] bytes = MemorySegment.ofAddress(address).reinterpret(length).toArray(ValueLayout.JAVA_BYTE);
            sent.add(new String(bytes, StandardCharsets.UTF_8) + (remote == null ? "" : " to " + remote.getPort()));
            return length;
        }
    }

    @AfterEach
    void release() {
        channel.close();
    }

    private ChannelPromise write(Object message) {
        ChannelPromise promise = channel.newPromise();
        buffer.addMessage(DatagramOutput.checked(message, UnpooledByteBufAllocator.DEFAULT), 1, promise);
        return promise;
    }

    private static DatagramPacket packet(String text) {
        return new DatagramPacket(bytes(text), PEER);
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    private Written flush(boolean connected, int limit) {
        buffer.addFlush();
        return output.write(buffer, port, connected, limit);
    }

    @Test
    void aPacketForWhichThereIsNoRoomWaitsAndSoDoThoseBehindIt() {
        List<ChannelPromise> promises = List.of(write(packet("a")), write(packet("b")), write(packet("c")));
        port.answers.addAll(List.of(0, -Errno.EAGAIN));
        assertSame(Written.WAITING, flush(false, ALL));
        assertTrue(promises.get(0).isSuccess());
        assertFalse(promises.get(1).isDone() || promises.get(2).isDone());

        ChannelPromise later = write(packet("d"));
        assertSame(Written.WAITING, flush(false, ALL));
        assertEquals(List.of("a to 7"), port.sent, "the socket was asked again before it had room");

        output.roomHasCome();
        assertSame(Written.DRAINED, flush(false, ALL));
        assertEquals(List.of("a to 7", "b to 7", "c to 7", "d to 7"), port.sent);
        assertTrue(promises.stream().allMatch(ChannelPromise::isSuccess) && later.isSuccess());
    }

    @Test
    void whatTheSocketRefusesFailsAlone() {
        List<ChannelPromise> promises = List.of(write(packet("a")), write(packet("b")), write(packet("x")), write(packet("c")));
        port.answers.addAll(List.of(-Errno.ECONNREFUSED, -Errno.EMSGSIZE, -Errno.EPROTO));
        assertSame(Written.DRAINED, flush(false, ALL));
        assertInstanceOf(PortUnreachableException.class, promises.get(0).cause());
        assertInstanceOf(SocketException.class, promises.get(1).cause());
        // By ICMP: what is no SocketException would end a channel that gets it when it reads.
        assertInstanceOf(SocketException.class, promises.get(2).cause());
        assertTrue(promises.get(3).isSuccess());
        assertEquals(List.of("c to 7"), port.sent);
    }

    @Test
    void whatWasReleasedOnceTooOftenFailsAlone() {
        DatagramPacket released = new DatagramPacket(Unpooled.directBuffer().writeBytes("b".getBytes()), PEER);
        List<ChannelPromise> promises = List.of(write(packet("a")), write(released), write(packet("c")));
        released.release();
        assertSame(Written.DRAINED, flush(false, ALL));
        assertTrue(promises.get(0).isSuccess());
        assertInstanceOf(IllegalReferenceCountException.class, promises.get(1).cause());
        assertTrue(promises.get(2).isSuccess());
        assertEquals(List.of("a to 7", "c to 7"), port.sent);
        assertTrue(buffer.isEmpty());
    }

    @Test
    void whatWasCancelledIsNotSentWhereverItStands() {
        List<ChannelPromise> promises = new ArrayList<>();
        for (String text : List.of("a", "b", "c", "d", "e")) {
            promises.add(write(packet(text)));
        }
        promises.get(0).cancel(false);
        promises.get(2).cancel(false);
        promises.get(4).cancel(false);
        port.answers.addAll(List.of(0, -Errno.EAGAIN));
        assertSame(Written.WAITING, flush(false, ALL));
        output.roomHasCome();
        assertSame(Written.DRAINED, flush(false, ALL));
        assertEquals(List.of("b to 7", "d to 7"), port.sent);
        assertTrue(promises.get(1).isSuccess() && promises.get(3).isSuccess());
        assertTrue(buffer.isEmpty());
    }

    @Test
    void noMoreIsSentAtOnceThanMayBe() {
        for (String text : List.of("a", "b", "c")) {
            write(packet(text));
        }
        assertSame(Written.AGAIN, flush(false, 2));
        assertEquals(2, port.sent.size());
        assertSame(Written.DRAINED, flush(false, 2));
        assertEquals(3, port.sent.size());
        assertSame(Written.DRAINED, flush(false, 2));
    }

    @Test
    void whoIsToldOfAPromiseMayWriteMore() {
        List<ChannelPromise> more = new ArrayList<>();
        write(packet("a")).addListener(sent -> {
            more.add(write(packet("b")));
            buffer.addFlush();
        });
        assertSame(Written.DRAINED, flush(false, ALL));
        assertEquals(List.of("a to 7", "b to 7"), port.sent);
        assertTrue(more.get(0).isSuccess());
    }

    @Test
    void aPlainBufferNeedsAPeerAndAnEmptyOneNothing() {
        ChannelPromise unconnected = write(bytes("a"));
        ChannelPromise empty = write(Unpooled.EMPTY_BUFFER);
        assertSame(Written.DRAINED, flush(false, ALL));
        assertInstanceOf(NotYetConnectedException.class, unconnected.cause());
        assertTrue(empty.isSuccess());
        ChannelPromise connected = write(bytes("b"));
        assertSame(Written.DRAINED, flush(true, ALL));
        assertTrue(connected.isSuccess());
        assertEquals(List.of("b"), port.sent);
    }

    @Test
    void anEmptyPacketIsADatagram() {
        write(packet(""));
        assertSame(Written.DRAINED, flush(false, ALL));
        assertEquals(List.of(" to 7"), port.sent);
    }

    // ------------------------------------------------------------------------------------------- several datagrams

    private static SegmentedDatagramPacket segmented(String text, int size) {
        return new SegmentedDatagramPacket(bytes(text), size, PEER);
    }

    @Test
    void aPacketOfSegmentsIsSeveralDatagramsAndOnePromise() {
        ChannelPromise promise = write(segmented("aabbc", 2));
        ChannelPromise whole = write(segmented("dd", 2));
        ChannelPromise next = write(packet("next"));
        port.answers.addAll(List.of(0, -Errno.EAGAIN));
        assertSame(Written.WAITING, flush(false, ALL));
        assertEquals(List.of("aa to 7"), port.sent);
        assertFalse(promise.isDone());
        output.roomHasCome();
        assertSame(Written.DRAINED, flush(false, ALL));
        assertEquals(List.of("aa to 7", "bb to 7", "c to 7", "dd to 7", "next to 7"), port.sent);
        assertTrue(promise.isSuccess() && whole.isSuccess() && next.isSuccess());
    }

    @Test
    void aSegmentThatTheSocketRefusesIsTheEndOfItsPacketAlone() {
        ChannelPromise promise = write(segmented("aabbcc", 2));
        ChannelPromise next = write(segmented("ddee", 2));
        port.answers.addAll(List.of(0, -Errno.ECONNREFUSED));
        assertSame(Written.DRAINED, flush(false, ALL));
        assertInstanceOf(PortUnreachableException.class, promise.cause());
        assertTrue(next.isSuccess());
        assertEquals(List.of("aa to 7", "dd to 7", "ee to 7"), port.sent);
    }

    /** As Netty does where a socket has lost its port. */
    @Test
    void whoeverFailsAPacketThatHasBegunTheNextOneIsWhole() {
        write(segmented("aabbcc", 2));
        port.answers.addAll(List.of(0, -Errno.EAGAIN));
        assertSame(Written.WAITING, flush(false, ALL));
        buffer.remove(new NotYetConnectedException());
        output.roomHasCome();
        ChannelPromise next = write(packet("whole"));
        ChannelPromise shorter = write(packet("d"));
        assertSame(Written.DRAINED, flush(false, ALL));
        assertEquals(List.of("aa to 7", "whole to 7", "d to 7"), port.sent);
        assertTrue(next.isSuccess() && shorter.isSuccess());
    }

    /** Netty's native transports can be in a class loader below the one that has its core. */
    @Test
    void aPacketOfAClassThatTheTransportDoesNotSeeIsSeveralDatagramsAsWell() {
        ByteBuf bytes = Unpooled.directBuffer().writeBytes("aabb".getBytes(StandardCharsets.UTF_8));
        write(new io.github.nettyucx.odd.channel.unix.SegmentedDatagramPacket(bytes, 2, PEER));
        assertSame(Written.DRAINED, flush(false, ALL));
        assertEquals(List.of("aa to 7", "bb to 7"), port.sent);
    }

    @Test
    void eachSegmentCountsAsADatagram() {
        ChannelPromise promise = write(segmented("abc", 1));
        assertSame(Written.AGAIN, flush(false, 2));
        assertEquals(2, port.sent.size());
        assertSame(Written.DRAINED, flush(false, 2));
        assertEquals(List.of("a to 7", "b to 7", "c to 7"), port.sent);
        assertTrue(promise.isSuccess());
    }

    /** Also where its bytes have to be copied, and where only its sender is named. */
    @Test
    void segmentsGoToThePeerOfAConnectedSocketFromAnyKindOfBuffer() {
        List<ByteBuf> given = List.of(bytes("heap"), Unpooled.directBuffer().writeBytes("straight".getBytes()),
                Unpooled.wrappedBuffer(bytes("com"), bytes("posite")), bytes("..inside").skipBytes(2));
        for (ByteBuf content : given) {
            write(new SegmentedDatagramPacket(content, 3, null, PEER));
        }
        assertSame(Written.DRAINED, flush(true, ALL));
        assertEquals(List.of("hea", "p", "str", "aig", "ht", "com", "pos", "ite", "ins", "ide"), port.sent);
        for (ByteBuf content : given) {
            assertEquals(0, content.refCnt());
        }
    }

    @Test
    void aPacketWithoutBytesIsOneDatagram() {
        ChannelPromise promise = write(segmented("", 2));
        assertSame(Written.DRAINED, flush(false, ALL));
        assertEquals(List.of(" to 7"), port.sent);
        assertTrue(promise.isSuccess());
    }

    @Test
    void anyKindOfBufferIsSentFromNativeMemoryAndReleased() {
        List<ByteBuf> given = List.of(bytes("heap"), Unpooled.directBuffer().writeBytes("direct".getBytes()),
                Unpooled.wrappedBuffer(bytes("com"), bytes("posite")), bytes("..inside").skipBytes(2));
        for (ByteBuf content : given) {
            write(new DatagramPacket(content, PEER));
        }
        ByteBuf enveloped = bytes("enveloped");
        write(new DefaultAddressedEnvelope<>(enveloped, PEER));
        assertSame(Written.DRAINED, flush(false, ALL));
        assertEquals(List.of("heap to 7", "direct to 7", "composite to 7", "inside to 7", "enveloped to 7"), port.sent);
        for (ByteBuf content : given) {
            assertEquals(0, content.refCnt());
        }
        assertEquals(0, enveloped.refCnt());
    }

    @Test
    void whatIsNoDatagramIsRefusedAndStaysItsOwners() {
        ByteBuf content = bytes("a");
        DatagramPacket unresolved = new DatagramPacket(content, InetSocketAddress.createUnresolved("nobody", 7));
        assertThrows(UnresolvedAddressException.class,
                () -> DatagramOutput.checked(unresolved, UnpooledByteBufAllocator.DEFAULT));
        assertThrows(UnsupportedOperationException.class,
                () -> DatagramOutput.checked("text", UnpooledByteBufAllocator.DEFAULT));
        assertThrows(UnsupportedOperationException.class, () -> DatagramOutput.checked(
                new DefaultAddressedEnvelope<>("text", PEER), UnpooledByteBufAllocator.DEFAULT));
        assertEquals(1, content.refCnt());
        content.release();
    }

    @Test
    void nothingIsKeptOfAMessageWhoseBytesCannotBeHad() {
        UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
        ByteBuf part = Unpooled.copiedBuffer("b", StandardCharsets.UTF_8);
        DatagramPacket message = new DatagramPacket(
                Unpooled.wrappedBuffer(Unpooled.copiedBuffer("a", StandardCharsets.UTF_8), part), PEER);
        part.release();
        assertThrows(IllegalReferenceCountException.class, () -> DatagramOutput.checked(message, allocator));
        assertEquals(0, allocator.metric().usedDirectMemory());
        assertEquals(1, message.refCnt());
    }
}
