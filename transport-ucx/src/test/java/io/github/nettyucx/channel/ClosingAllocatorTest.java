// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

/** An application's allocator closes the channel that asks it for memory, as one may that has a limit. */
class ClosingAllocatorTest {

    private static final byte[] HELLO = "hello".getBytes(StandardCharsets.ISO_8859_1);

    private final Queue<ByteBuf> made = new ConcurrentLinkedQueue<>();
    private Peers peers;

    /** Closes the channel that it is told of, each time. */
    private final class Closing extends AbstractByteBufAllocator {

        private volatile Channel channel;

        Closing() {
            super(true);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            if (channel != null) {
                channel.close();
            }
            ByteBuf buffer = Unpooled.directBuffer(initialCapacity, maxCapacity);
            made.add(buffer);
            return buffer;
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return new UnpooledHeapByteBuf(this, initialCapacity, maxCapacity);
        }

        @Override
        public boolean isDirectBufferPooled() {
            return true;
        }
    }

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() throws Exception {
        peers.close();
        Eventually.await(5_000, () -> "buffers are not given back", () -> made.stream().allMatch(each -> each.refCnt() == 0));
    }

    /** From when it is active on. */
    private static Inbox closed(Closing allocator) {
        return new Inbox() {
            @Override
            public void channelActive(ChannelHandlerContext context) throws Exception {
                allocator.channel = context.channel();
                super.channelActive(context);
            }
        };
    }

    private static void assertClosedAndNothingRead(Inbox child) throws Exception {
        child.awaitInactive();
        assertEquals("", child.text());
        assertEquals(List.of(), child.exceptions());
    }

    @OnEachLane
    void whenItReads() throws Exception {
        Closing allocator = new Closing();
        Inbox child = closed(allocator);
        Channel client = peers.connect(peers.listen(peers.server(() -> child).childOption(ChannelOption.ALLOCATOR, allocator)),
                new Inbox());
        client.writeAndFlush(Unpooled.wrappedBuffer(HELLO));
        assertClosedAndNothingRead(child);
        Peers.await(client.closeFuture());
    }

    /** What came first has been looked at before, to find out who it is. */
    @OnEachLane(lanes = Lane.SOCKET)
    void whenItReadsWhatAnOrdinaryClientHasSaid() throws Exception {
        Closing allocator = new Closing();
        Inbox child = closed(allocator);
        UcxServerSocketChannel server =
                peers.listen(peers.server(() -> child).childOption(ChannelOption.ALLOCATOR, allocator));
        try (RawPeer client = new RawPeer()) {
            client.connect(server.localAddress());
            client.say(HELLO);
            assertClosedAndNothingRead(child);
        }
    }

    @OnEachLane
    void whenItConnects() throws Exception {
        Closing allocator = new Closing();
        ChannelHandler first = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                allocator.channel = channel;
            }
        };
        Throwable failure = Peers.awaitFailure(peers.client(first).option(ChannelOption.ALLOCATOR, allocator)
                .connect(peers.listen(Inbox::new).localAddress()));
        assertInstanceOf(ClosedChannelException.class, failure);
        Peers.await(allocator.channel.closeFuture());
        // The close is told before the allocator has returned.
        Peers.await(allocator.channel.eventLoop().submit(() -> { }));
        assertFalse(made.isEmpty());
    }
}
