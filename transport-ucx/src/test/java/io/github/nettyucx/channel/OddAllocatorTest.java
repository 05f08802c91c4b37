// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DatagramPacket;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** An application's allocator whose direct buffers are no native memory in one piece, or are too short. */
class OddAllocatorTest {

    private static final long SEED = 11;
    /** Such as are copied, such as are stashed while nobody reads, and such as go by rendezvous. */
    private static final int[] LENGTHS = {1, 100, 5_000, 300_000};
    private static final int MESSAGES = 40;

    /** What its direct buffers are. */
    private enum Kind {
        HEAP {
            @Override
            ByteBuf make(OddAllocator allocator, int length) {
                return new UnpooledHeapByteBuf(allocator, length, Integer.MAX_VALUE);
            }
        },
        PIECES {
            @Override
            ByteBuf make(OddAllocator allocator, int length) {
                int first = length / 2;
                CompositeByteBuf pieces = new CompositeByteBuf(allocator, true, 16);
                pieces.addComponent(Unpooled.directBuffer(first, first).writerIndex(first));
                pieces.addComponent(Unpooled.directBuffer(length - first, length - first).writerIndex(length - first));
                return pieces;
            }
        },
        SHORT {
            @Override
            ByteBuf make(OddAllocator allocator, int length) {
                return Unpooled.directBuffer(length / 2, length / 2);
            }
        };

        abstract ByteBuf make(OddAllocator allocator, int length);
    }

    private static final class OddAllocator extends AbstractByteBufAllocator {

        private final Kind kind;
        private final Queue<ByteBuf> made = new ConcurrentLinkedQueue<>();

        OddAllocator(Kind kind) {
            super(true);
            this.kind = kind;
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return new UnpooledHeapByteBuf(this, initialCapacity, maxCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            ByteBuf buffer = kind.make(this, initialCapacity);
            // Half of one byte is the buffer that is empty for ever, and not to be given back.
            if (buffer != Unpooled.EMPTY_BUFFER) {
                made.add(buffer);
            }
            return buffer;
        }

        @Override
        public boolean isDirectBufferPooled() {
            return true;
        }

        void assertNothingLeft() throws Exception {
            Eventually.await(5_000, () -> "buffers are not given back",
                    () -> made.stream().allMatch(buffer -> buffer.refCnt() == 0));
        }
    }

    /** Sends everything back. */
    private static final class Echo extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    private static final class Reader extends ChannelInboundHandlerAdapter {

        private final CompletableFuture<Integer> done = new CompletableFuture<>();
        private final SeededBytes expected = new SeededBytes(SEED);
        private final int length;
        private int position;

        Reader(int length) {
            this.length = length;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            int count = buffer.readableBytes();
            try {
                expected.check(position, buffer);
            } finally {
                buffer.release();
            }
            position += count;
            if (position == length) {
                done.complete(position);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            done.completeExceptionally(new AssertionError("closed after " + position + " bytes"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            done.completeExceptionally(cause);
        }
    }

    @OnEachLane
    void everyByteArrivesInBuffersOfTheHeap() throws Exception {
        everyByteArrives(Kind.HEAP);
    }

    @OnEachLane
    void everyByteArrivesInBuffersOfSeveralPieces() throws Exception {
        everyByteArrives(Kind.PIECES);
    }

    @OnEachLane
    void everyByteArrivesInBuffersThatAreTooShort() throws Exception {
        everyByteArrives(Kind.SHORT);
    }

    private static void everyByteArrives(Kind kind) throws Exception {
        OddAllocator allocator = new OddAllocator(kind);
        try (Peers peers = new Peers()) {
            CompletableFuture<Channel> accepted = new CompletableFuture<>();
            Channel server = Peers.await(new ServerBootstrap().group(peers.serverGroup)
                    .channel(UcxServerSocketChannel.class)
                    .childOption(ChannelOption.ALLOCATOR, allocator).childOption(ChannelOption.AUTO_READ, false)
                    .childHandler(new ChannelInitializer<>() {

                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new Echo());
                            accepted.complete(channel);
                        }
                    }).bind(Peers.loopback(0))).channel();
            int total = 0;
            for (int length : LENGTHS) {
                total += MESSAGES * length;
            }
            Reader reader = new Reader(total);
            Channel client = Peers.connect(peers.client(reader).option(ChannelOption.ALLOCATOR, allocator), server);
            SeededBytes bytes = new SeededBytes(SEED);
            int position = 0;
            for (int length : LENGTHS) {
                for (int i = 0; i < MESSAGES; i++) {
                    client.writeAndFlush(Unpooled.wrappedBuffer(bytes.at(position, length)));
                    position += length;
                }
            }
            accepted.get(15, TimeUnit.SECONDS).config().setAutoRead(true);
            assertEquals(total, reader.done.get(30, TimeUnit.SECONDS));
        }
        allocator.assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void soDoesEveryDatagram(Kind kind) throws Exception {
        OddAllocator allocator = new OddAllocator(kind);
        CompletableFuture<String> echoed = new CompletableFuture<>();
        try (Peers peers = new Peers()) {
            Bootstrap bootstrap = new Bootstrap().channel(UcxDatagramChannel.class)
                    .option(ChannelOption.ALLOCATOR, allocator);
            Channel server = Peers.await(bootstrap.clone(peers.serverGroup)
                    .handler(new ChannelInboundHandlerAdapter() {

                        @Override
                        public void channelRead(ChannelHandlerContext context, Object message) {
                            DatagramPacket packet = (DatagramPacket) message;
                            context.writeAndFlush(new DatagramPacket(packet.content(), packet.sender()));
                        }
                    }).bind(Peers.loopback(0))).channel();
            Channel client = Peers.await(bootstrap.clone(peers.clientGroup)
                    .handler(new ChannelInboundHandlerAdapter() {

                        @Override
                        public void channelRead(ChannelHandlerContext context, Object message) {
                            DatagramPacket packet = (DatagramPacket) message;
                            echoed.complete(packet.content().toString(StandardCharsets.US_ASCII));
                            packet.release();
                        }

                        @Override
                        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                            echoed.completeExceptionally(cause);
                        }
                    }).bind(Peers.loopback(0))).channel();
            ByteBuf words = Unpooled.copiedBuffer("a datagram", StandardCharsets.US_ASCII);
            Peers.await(client.writeAndFlush(new DatagramPacket(words,
                    (InetSocketAddress) server.localAddress())));
            assertEquals("a datagram", echoed.get(10, TimeUnit.SECONDS));
        }
        allocator.assertNothingLeft();
    }
}
