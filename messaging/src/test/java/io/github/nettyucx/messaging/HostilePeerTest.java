// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.DataInputStream;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Peers that say a good HELLO, and nothing good behind it: what a node keeps for them, and what it believes. */
@Timeout(60)
class HostilePeerTest {

    private static final MessageType<String> TEXT = new MessageType<>(1, StringCodec.INSTANCE);
    private static final int MIB = 1024 * 1024;

    /** Any node, by hand. */
    private static final class Raw implements AutoCloseable {

        private final Socket socket = new Socket();
        private final DataInputStream in;

        Raw(Node to, int id) throws IOException {
            socket.setReceiveBufferSize(4096);
            socket.connect((InetSocketAddress) to.address());
            socket.setSoTimeout(15_000);
            socket.setTcpNoDelay(true);
            in = new DataInputStream(socket.getInputStream());
            ByteBuf hello = new Hello(id, to.id(), 42).encode(UnpooledByteBufAllocator.DEFAULT);
            hello.readBytes(socket.getOutputStream(), hello.readableBytes());
            hello.release();
        }

        void write(long word, long... more) throws IOException {
            ByteBuf frame = UnpooledByteBufAllocator.DEFAULT.heapBuffer().writeLongLE(word);
            for (long value : more) {
                frame.writeLongLE(value);
            }
            frame.readBytes(socket.getOutputStream(), frame.readableBytes());
            frame.release();
        }

        /** @return the first word behind the frame's own, or 0 */
        long read(int kind) throws IOException {
            long word = Long.reverseBytes(in.readLong());
            assertEquals(kind, Frame.kind(word));
            int length = Frame.aligned(Frame.length(word)) - Frame.HEADER;
            long value = length == 0 ? 0 : Long.reverseBytes(in.readLong());
            in.readFully(new byte[Math.max(0, length - Long.BYTES)]);
            return value;
        }

        void awaitEnd() throws IOException {
            try {
                while (in.read() >= 0) {
                    // What it had sent before.
                }
            } catch (SocketException e) {
                // A reset: not all that was sent was read.
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    /** One of them says it all. */
    @Test
    void acknowledgementsDoNotHeapUpForAPeerThatReadsNone() throws Exception {
        int pads = 100_000;
        long pad = Ring.MAX_CAPACITY / 2;
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO)) {
            // Each word is read by itself, and each time there is something to acknowledge.
            Node one = nodes.start(1, builder -> builder.option(ChannelOption.SO_SNDBUF, 4096)
                    .option(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(Frame.HEADER).maxMessagesPerRead(1)));
            try (var two = new Raw(one, 2)) {
                two.read(Frame.HELLO);
                MessagesTest.await("it is known", () -> !one.peer(2).connections().isEmpty());
                Channel channel = one.peer(2).connections().getFirst().channel();
                var most = new AtomicInteger();
                for (int i = 0; i < pads; i++) {
                    two.write(Frame.word((int) pad, Frame.PAD, 0));
                    if (i % 1000 == 999) {
                        // It has read up to here, or nearly.
                        most.accumulateAndGet(channel.eventLoop().submit(() -> channel.unsafe().outboundBuffer().size())
                                .get(15, TimeUnit.SECONDS), Math::max);
                    }
                }
                // As many as the channel takes until it is no longer writable: 64 KiB, of some 100 bytes each.
                assertTrue(most.get() < 1000, most + " acknowledgements wait");
                // It is told of all nevertheless.
                long seen = 0;
                while (seen < pads * pad) {
                    long next = two.read(Frame.ACK);
                    assertTrue(next > seen, next + " after " + seen);
                    seen = next;
                }
                assertEquals(pads * pad, seen);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 12, -8, Ring.MAX_CAPACITY, Integer.MAX_VALUE})
    void aPadThatIsNoneIsRefused(int length) throws Exception {
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO)) {
            Node one = nodes.start(1);
            try (var two = new Raw(one, 2)) {
                two.read(Frame.HELLO);
                two.write(Frame.word(0, Frame.PAD, 0) | length & 0xFFFF_FFFFL);
                two.awaitEnd();
            }
            MessagesTest.await("it is sent away", () -> one.metrics().connectionsLost() == 1);
        }
    }

    /** Who was told that a message is delivered would be told that it is not. */
    @Test
    void anAcknowledgementIsNotTakenBack() throws Exception {
        var undelivered = new AtomicLong();
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO)) {
            Node one = nodes.start(1, builder -> builder.listener(new NodeListener() {
                @Override
                public void undelivered(Peer peer, long from, long to, Throwable cause) {
                    undelivered.addAndGet(to - from);
                }
            }));
            try (var two = new Raw(one, 2)) {
                two.read(Frame.HELLO);
                long first = one.peer(2).send(TEXT, "x");
                two.read(Frame.MESSAGE);
                long second = one.peer(2).send(TEXT, "y");
                assertNotEquals(Peer.NO_TICKET, first);
                two.write(Frame.word(16, Frame.ACK, 0), second);
                MessagesTest.await("delivered", () -> one.peer(2).delivery(first) == Peer.Delivery.DELIVERED);
                two.write(Frame.word(16, Frame.ACK, 0), 0);
                two.awaitEnd();
                MessagesTest.await("the rest is told of", () -> one.peer(2).delivery(second) == Peer.Delivery.UNDELIVERED);
                assertEquals(Peer.Delivery.DELIVERED, one.peer(2).delivery(first));
                MessagesTest.await("told", () -> undelivered.get() > 0);
                assertEquals(one.peer(2).taken() - second, undelivered.get());
            }
        }
    }

    /** Whoever reaches the port of a node without a secret is one. What each of them costs is not a ring. */
    @ParameterizedTest
    @EnumSource
    void whoOnlyConnectsCostsNoRing(TestTransport transport) throws Exception {
        int strangers = 64;
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.ringCapacity(4 * MIB));
            BufferPoolMXBean direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                    .filter(pool -> pool.getName().equals("direct")).findFirst().orElseThrow();
            long before = direct.getMemoryUsed();
            for (int i = 0; i < strangers; i++) {
                try (var stranger = new Raw(one, 1000 + i)) {
                    stranger.read(Frame.HELLO);
                }
            }
            MessagesTest.await("all have gone", () -> one.metrics().connectionsLost() == strangers);
            long grown = direct.getMemoryUsed() - before;
            assertTrue(grown < 16 * MIB, grown + " bytes more");
            // What is sent to one of them has its ring.
            try (var stranger = new Raw(one, 1000)) {
                stranger.read(Frame.HELLO);
                one.peer(1000).send(TEXT, "x");
                stranger.read(Frame.MESSAGE);
            }
        }
    }

    @Test
    void aNodeRemembersNoMoreThanMaxPeers() throws Exception {
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO)) {
            Node one = nodes.start(1, builder -> builder.maxPeers(3));
            one.peer(2);
            for (int id = 3; id <= 4; id++) {
                try (var friend = new Raw(one, id)) {
                    friend.read(Frame.HELLO);
                    one.peer(id).send(TEXT, "x");
                    friend.read(Frame.MESSAGE);
                }
            }
            for (int id = 5; id <= 7; id++) {
                try (var stranger = new Raw(one, id)) {
                    stranger.awaitEnd();
                }
            }
            // Those that it knows come again, and the application may ask for others.
            try (var friend = new Raw(one, 3)) {
                friend.read(Frame.HELLO);
                one.peer(3).send(TEXT, "x");
                friend.read(Frame.MESSAGE);
            }
            Node five = nodes.start(5);
            var received = new AtomicInteger();
            five.onMessage(TEXT, (from, message) -> received.incrementAndGet());
            one.peer(5).send(TEXT, "x");
            MessagesTest.await("a node that it was asked for", () -> received.get() == 1);
        }
    }
}
