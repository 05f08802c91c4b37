// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What event loops have sent and the ring has not taken. */
class OverflowTest {

    private static final int LIMIT = 1024;
    private static final int LENGTH = 900;
    private static final int IDLE_MILLIS = 300;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    /** With the node's ring more than what the tests' JVM may have outside its heap. */
    private static final int TOO_LARGE = Integer.MAX_VALUE;

    @Test
    @SuppressWarnings("deprecation") // of Netty 4.2
    void aFrameThatThereIsNoMemoryForTakesNoRoom() {
        EventLoopGroup group = new NioEventLoopGroup(1);
        try (Node node = Node.builder(1).transport(group, NioSocketChannel.class, NioServerSocketChannel.class)
                .overflow(TOO_LARGE).start()) {
            Peer peer = node.peer(2);
            var overflow = new Overflow(peer, node, peer.outgoing().ring());
            for (IntConsumer add : new IntConsumer[] {overflow::add, overflow::addAnyway}) {
                assertThrows(OutOfMemoryError.class, () -> add.accept(TOO_LARGE));
                Slot slot = overflow.add(LIMIT);
                assertEquals(LIMIT, slot.length);
                overflow.drop(slot);
            }
            assertEquals(2, node.metrics().overflowed());
        } finally {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    /** Without that native memory would grow until the garbage collector runs. */
    @Test
    void memoryIsUsedAgainUpToABound() {
        var memory = new SlotMemory(3 * LIMIT);
        List<MemorySegment> first = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            first.add(memory.take(LENGTH));
        }
        first.forEach(memory::give);
        Set<Long> addresses = first.stream().map(MemorySegment::address).collect(Collectors.toSet());
        assertEquals(5, addresses.size());
        List<MemorySegment> second = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            second.add(memory.take(LIMIT));
            assertTrue(second.getLast().byteSize() >= LIMIT);
        }
        assertEquals(3, second.stream().filter(each -> addresses.contains(each.address())).count());
        // Of another size.
        memory.give(second.getFirst());
        assertTrue(memory.take(LIMIT + 1).byteSize() > LIMIT);
        assertEquals(second.getFirst().address(), memory.take(LIMIT / 2 + 1).address());
        memory.give(memory.take(1 << 20));
    }

    /** It is what the parts of a large message are, but for the last. */
    @Test
    void soIsThatOfTheLongestFrame() {
        var memory = new SlotMemory(1 << 20);
        for (int length : new int[] {Fragments.LIMIT, Fragments.LIMIT - 1, 1 << 16}) {
            MemorySegment first = memory.take(length);
            assertTrue(first.byteSize() >= length);
            memory.give(first);
            assertEquals(first.address(), memory.take(length).address());
        }
        // What a shorter one has left is not taken for it.
        memory.give(memory.take(1 << 16));
        assertEquals(Fragments.LIMIT, memory.take(Fragments.LIMIT).byteSize());
    }

    /** The loop would find nothing to do again and again, and take a processor for that. */
    @Test
    @Timeout(60)
    void whatWaitsBehindACodecThatIsSlowDoesNotKeepTheLoopBusy() throws Exception {
        var writing = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        var slow = new MessageType<>(1, new Codec<String>() {
            @Override
            public int size(String message) {
                return LENGTH;
            }

            @Override
            public void write(String message, Exporter out) {
                writing.countDown();
                try {
                    goOn.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                out.putBytes(new byte[LENGTH - Integer.BYTES]);
            }

            @Override
            public String read(Importer in) {
                in.getBytes();
                return "slow";
            }
        });
        var bytes = new MessageType<>(2, ByteBufCodec.INSTANCE);
        var client = new AtomicReference<Channel>();
        var received = new AtomicInteger();
        var group = new UcxEventLoopGroup(1, new DefaultThreadFactory("overflow", true), UcxWaitStrategy.PARK);
        try (var nodes = new TestTransport.Nodes(TestTransport.UCX)) {
            Node one = nodes.start(1, builder -> builder.ringCapacity(Ring.MIN_CAPACITY).handlers(client::set, server -> { })
                    .transport(group, UcxSocketChannel.class, UcxServerSocketChannel.class));
            Node two = nodes.start(2);
            two.onMessage(bytes, (from, message) -> received.incrementAndGet());
            two.onMessage(slow, (from, message) -> received.incrementAndGet());
            Peer peer = one.peer(2);
            peer.send(bytes, Unpooled.EMPTY_BUFFER);
            MessagesTest.await("connected", () -> received.get() == 1);
            Thread thread = Thread.ofPlatform().start(() -> peer.send(slow, "slow"));
            writing.await();
            int sent = 2;
            try {
                for (;;) {
                    peer.trySend(bytes, Unpooled.wrappedBuffer(new byte[LENGTH]));
                    sent++;
                }
            } catch (MessagingException.RingFull e) {
                // What the loop sends now waits beside the ring.
            }
            EventLoop loop = client.get().eventLoop();
            long id = loop.submit(Thread::currentThread).get().threadId();
            WakeModeration moderation = peer.connections().getFirst().moderation();
            loop.submit(() -> {
                for (int i = 0; i < 2 * WakeModeration.LAST_PATIENCE && !moderation.naps(1, 16, true); i++) {
                    // Until it naps.
                }
                assertTrue(moderation.naps(1, 16));
                peer.send(bytes, Unpooled.wrappedBuffer(new byte[LENGTH]));
            }).get();
            sent++;
            assertEquals(1, one.metrics().overflowed());
            // Nor does it look by itself, as when it naps.
            assertFalse(loop.submit(moderation::looks).get());
            long before = THREADS.getThreadCpuTime(id);
            // So long it has nothing to do.
            Thread.sleep(IDLE_MILLIS);
            long busyMillis = TimeUnit.NANOSECONDS.toMillis(THREADS.getThreadCpuTime(id) - before);
            goOn.countDown();
            thread.join();
            int all = sent;
            MessagesTest.await("all", () -> received.get() == all);
            assertTrue(busyMillis < IDLE_MILLIS / 4, () -> "the loop was busy for " + busyMillis + " ms");
        } finally {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }
}
