// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import com.google.protobuf.StringValue;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Messages arrive: whole, once, in order, of every size, over each transport. */
@Timeout(60)
class MessagesTest {

    private static final MessageType<String> TEXT = new MessageType<>(1, StringCodec.INSTANCE);
    private static final MessageType<ByteBuf> BYTES = new MessageType<>(2, ByteBufCodec.INSTANCE);
    private static final MessageType<long[]> NUMBERS = new MessageType<>(3, new Codec<>() {
        @Override
        public int size(long[] message) {
            return Exporter.sizeOf(message);
        }

        @Override
        public void write(long[] message, Exporter out) {
            out.putLongs(message);
        }

        @Override
        public long[] read(Importer in) {
            return in.getLongs();
        }
    });

    private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
        T value = queue.poll(10, TimeUnit.SECONDS);
        assertTrue(value != null, "nothing has come");
        return value;
    }

    static void await(String what, java.util.function.BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, what);
            // Between two looks at what other threads do, which tell nobody.
            Thread.sleep(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMessageArrivesAndItsTicketIsAcknowledged(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            var received = new LinkedBlockingQueue<String>();
            Node one = nodes.start(1);
            Node two = nodes.start(2);
            two.onMessage(TEXT, (from, message) -> received.add(from.id() + " " + message));
            long ticket = one.peer(2).send(TEXT, "Grüße 🙂");
            assertEquals("1 Grüße 🙂", take(received));
            await("acknowledged", () -> one.peer(2).delivery(ticket) == Peer.Delivery.DELIVERED);
            assertEquals(Peer.Delivery.PENDING, one.peer(2).delivery(ticket + 1_000_000));
            assertEquals(1, one.metrics().connections());
        }
    }

    @ParameterizedTest
    @EnumSource
    void theOtherWayTakesTheSameConnection(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            var received = new LinkedBlockingQueue<String>();
            Node one = nodes.start(1);
            Node two = nodes.start(2);
            one.onMessage(TEXT, (from, message) -> received.add(message));
            // From the event loop.
            two.onMessage(TEXT, (from, message) -> from.send(TEXT, "re: " + message));
            one.peer(2).send(TEXT, "a");
            assertEquals("re: a", take(received));
            assertEquals(1, one.metrics().connectionsOpened());
            assertEquals(1, two.metrics().connectionsOpened());
        }
    }

    /** From nothing to many times the ring: what does not fit into a frame goes in parts, mixed with others'. */
    @ParameterizedTest
    @EnumSource
    void messagesOfAllSizesFromManyThreads(TestTransport transport) throws Exception {
        int threads = 4;
        int each = 50;
        long seed = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime());
        System.out.println("seed " + seed);
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.ringCapacity(64 * 1024));
            Node two = nodes.start(2);
            var next = new int[threads];
            var failure = new AtomicReference<Throwable>();
            var done = new CountDownLatch(threads * each);
            two.onMessage(NUMBERS, (from, message) -> {
                try {
                    int thread = (int) message[0];
                    assertEquals(next[thread]++, message[1]);
                    assertArrayEquals(numbers(seed, thread, (int) message[1]), message);
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                }
                done.countDown();
            });
            List<Thread> senders = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int thread = t;
                senders.add(Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < each; i++) {
                        one.peer(2).send(NUMBERS, numbers(seed, thread, i));
                    }
                }));
            }
            for (Thread sender : senders) {
                sender.join();
            }
            assertTrue(done.await(30, TimeUnit.SECONDS), () -> done.getCount() + " are missing");
            assertNull(failure.get());
        }
    }

    private static long[] numbers(long seed, int thread, int index) {
        var random = new Random(seed ^ thread * 31L + index);
        long[] numbers = new long[2 + (int) Math.pow(2, random.nextDouble(17))];
        Arrays.setAll(numbers, i -> random.nextLong());
        numbers[0] = thread;
        numbers[1] = index;
        return numbers;
    }

    @ParameterizedTest
    @EnumSource
    void rawBytesAreReceivedWithoutACopyAndMayBeKept(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            var received = new LinkedBlockingQueue<ByteBuf>();
            Node one = nodes.start(1);
            Node two = nodes.start(2);
            two.onMessage(BYTES, (from, message) -> received.add(message.retain()));
            int[] sizes = {0, 1, 7, 8, 1000, 70_000, 1_000_000};
            for (int size : sizes) {
                byte[] bytes = new byte[size];
                new Random(size).nextBytes(bytes);
                ByteBuf direct = PooledByteBufAllocator.DEFAULT.directBuffer(size + 1).writeBytes(bytes);
                one.peer(2).send(BYTES, Unpooled.wrappedBuffer(bytes));
                one.peer(2).send(BYTES, direct);
                assertEquals(size, direct.readableBytes());
                direct.release();
            }
            for (int size : sizes) {
                byte[] bytes = new byte[size];
                new Random(size).nextBytes(bytes);
                for (int i = 0; i < 2; i++) {
                    ByteBuf buffer = take(received);
                    assertEquals(Unpooled.wrappedBuffer(bytes), buffer, "size " + size);
                    buffer.release();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void protocolBuffers(TestTransport transport) throws Exception {
        var type = new MessageType<>(4, new ProtobufCodec<>(StringValue.parser()));
        try (var nodes = new TestTransport.Nodes(transport)) {
            var received = new LinkedBlockingQueue<String>();
            Node one = nodes.start(1);
            nodes.start(2).onMessage(type, (from, message) -> received.add(message.getValue()));
            for (int length : new int[] {0, 1, 100, 300_000}) {
                one.peer(2).send(type, StringValue.of("x".repeat(length)));
                assertEquals(length, take(received).length());
            }
        }
    }

    /** A handler that answers more than there is room for must neither wait nor lose anything. */
    @ParameterizedTest
    @EnumSource
    void anEventLoopDoesNotWaitForRoom(TestTransport transport) throws Exception {
        int count = 10_000;
        try (var nodes = new TestTransport.Nodes(transport)) {
            // So little that the transport takes no more when the other side does not read.
            UnaryOperator<NodeBuilder> small = builder -> builder.ringCapacity(4096)
                    .option(ChannelOption.SO_RCVBUF, 64 * 1024).option(ChannelOption.SO_SNDBUF, 64 * 1024);
            Node one = nodes.start(1, small);
            Node two = nodes.start(2, small);
            var sent = new CountDownLatch(1);
            var next = new AtomicInteger();
            var wrong = new AtomicReference<String>();
            var done = new CountDownLatch(count);
            one.onMessage(TEXT, (from, message) -> {
                sent.await();
                if (!message.startsWith(next.getAndIncrement() + " ")) {
                    wrong.compareAndSet(null, message);
                }
                done.countDown();
            });
            two.onMessage(TEXT, (from, message) -> {
                for (int i = 0; i < count; i++) {
                    from.send(TEXT, i + " " + "x".repeat(i % 900));
                }
                sent.countDown();
            });
            one.peer(2).send(TEXT, "go");
            assertTrue(done.await(20, TimeUnit.SECONDS), () -> done.getCount() + " are missing");
            assertNull(wrong.get());
            assertTrue(two.metrics().overflowed() > 0, "the test had room all the time");
        }
    }

    @ParameterizedTest
    @EnumSource
    void anEventLoopThatSendsTooMuchIsTold(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            var result = new LinkedBlockingQueue<Object>();
            Node one = nodes.start(1);
            Node two = nodes.start(2, builder -> builder.ringCapacity(4096).overflow(10_000)
                    .reachTimeout(Duration.ofMillis(200)));
            two.onMessage(TEXT, (from, message) -> {
                try {
                    for (int i = 0; i < 1000; i++) {
                        // Nobody is there.
                        two.peer(3).send(TEXT, "x".repeat(100));
                    }
                    result.add("no failure");
                } catch (MessagingException.RingFull e) {
                    result.add(e);
                }
            });
            one.peer(2).send(TEXT, "go");
            assertTrue(take(result) instanceof MessagingException.RingFull);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aThreadWaitsForRoomAsLongAsItIsTold(TestTransport transport) {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.ringCapacity(4096).sendTimeout(Duration.ofMillis(50))
                    // Until it ends the ring stays full.
                    .reachTimeout(Duration.ofSeconds(10)));
            // An address where nobody listens.
            Peer nobody = one.peer(2);
            assertThrows(MessagingException.RingFull.class, () -> {
                for (int i = 0; i < 100; i++) {
                    nobody.trySend(TEXT, "x".repeat(100));
                }
            });
            assertTrue(assertThrows(MessagingException.RingFull.class, () -> nobody.send(TEXT, "x".repeat(500))).getMessage()
                    .contains("50 ms"));
            assertTrue(one.metrics().ringFull() > 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void poolsHandleInOrderIfTheTypeSaysSo(TestTransport transport) throws Exception {
        int count = 20_000;
        var ordered = new MessageType<>(4, NUMBERS.codec(), Dispatch.POOL_IN_ORDER);
        var unordered = new MessageType<>(5, NUMBERS.codec(), Dispatch.POOL);
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2);
            var next = new AtomicInteger();
            var inOrder = new AtomicInteger();
            var seen = new AtomicInteger();
            two.onMessage(ordered, (from, message) -> {
                if (message[0] == next.get()) {
                    inOrder.incrementAndGet();
                }
                next.incrementAndGet();
            });
            two.onMessage(unordered, (from, message) -> seen.incrementAndGet());
            for (int i = 0; i < count; i++) {
                one.peer(2).send(ordered, new long[] {i});
                one.peer(2).send(unordered, new long[] {i});
            }
            await("all", () -> next.get() == count && seen.get() == count);
            assertEquals(count, inOrder.get());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPoolThatIsSlowHoldsUpTheSender(TestTransport transport) throws Exception {
        var slow = new MessageType<>(4, StringCodec.INSTANCE, Dispatch.POOL_IN_ORDER);
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.ringCapacity(64 * 1024).sendTimeout(Duration.ofSeconds(2)));
            Node two = nodes.start(2);
            var go = new CountDownLatch(1);
            var handled = new AtomicInteger();
            two.onMessage(slow, (from, message) -> {
                go.await();
                handled.incrementAndGet();
            });
            String text = "x".repeat(10_000);
            // It is the pool that the sender is to wait for, and not the connection.
            long first = one.peer(2).send(slow, text);
            await("connected", () -> one.peer(2).delivery(first) == Peer.Delivery.DELIVERED);
            int sent = 1;
            boolean isHeldUp = false;
            while (sent < 100_000 && !isHeldUp) {
                try {
                    one.peer(2).send(slow, text);
                    sent++;
                } catch (MessagingException.RingFull e) {
                    // What is to be shown; and before that the machine has been slow.
                    isHeldUp = sent >= Inbox.LIMIT;
                }
            }
            int accepted = sent;
            assertTrue(accepted >= Inbox.LIMIT && accepted < 4 * Inbox.LIMIT, () -> accepted + " were accepted");
            go.countDown();
            await("all", () -> handled.get() == accepted);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCodecThatFailsFailsItsSenderOnly(TestTransport transport) throws Exception {
        Codec<Integer> liar = new Codec<>() {
            @Override
            public int size(Integer message) {
                return Math.abs(message);
            }

            @Override
            public void write(Integer message, Exporter out) {
                for (int i = 0; i < Math.abs(message); i++) {
                    out.putByte(i);
                    if (message < 0 && i == -message / 2) {
                        throw new IllegalStateException("half");
                    }
                }
                if (message == 13 || message == 300_013) {
                    out.putByte(0);
                }
            }

            @Override
            public Integer read(Importer in) {
                return in.getBuffer(in.remaining()).readableBytes();
            }
        };
        var type = new MessageType<>(4, liar);
        try (var nodes = new TestTransport.Nodes(transport)) {
            var received = new LinkedBlockingQueue<String>();
            Node one = nodes.start(1);
            Node two = nodes.start(2);
            two.onMessage(TEXT, (from, message) -> received.add(message));
            Peer peer = one.peer(2);
            for (int size : new int[] {100, 300_000}) {
                assertEquals("half", assertThrows(IllegalStateException.class, () -> peer.send(type, -size)).getMessage());
                assertThrows(IndexOutOfBoundsException.class, () -> peer.send(type, size / 100_000 * 100_000 + 13));
                peer.send(TEXT, "after " + size);
                assertEquals("after " + size, take(received));
            }
            assertThrows(IllegalArgumentException.class, () -> peer.send(type, Integer.MAX_VALUE));
            assertEquals(0, two.metrics().unhandled());
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatCannotBeHandledIsToldAndTheRestGoesOn(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            var failures = new LinkedBlockingQueue<Throwable>();
            var received = new LinkedBlockingQueue<String>();
            Node one = nodes.start(1);
            Node two = nodes.start(2, builder -> builder.listener(new NodeListener() {
                @Override
                public void failed(Peer peer, int type, Throwable cause) {
                    failures.add(cause);
                }
            }));
            two.onMessage(TEXT, (from, message) -> {
                if (message.equals("bang")) {
                    throw new IllegalStateException("the handler's");
                }
                received.add(message);
            });
            // Its codec reads longs where there are the bytes of a string.
            two.onMessage(new MessageType<>(7, NUMBERS.codec()), (from, message) -> received.add("wrong"));
            one.peer(2).send(new MessageType<>(6, StringCodec.INSTANCE), "nobody");
            assertTrue(take(failures).getMessage().contains("type 6"));
            one.peer(2).send(new MessageType<>(7, StringCodec.INSTANCE), "not longs");
            assertTrue(take(failures).getMessage().contains("same codec"));
            one.peer(2).send(TEXT, "bang");
            assertEquals("the handler's", take(failures).getMessage());
            one.peer(2).send(TEXT, "fine");
            assertEquals("fine", take(received));
            assertEquals(3, two.metrics().unhandled());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCloseDeliversWhatWasSentBefore(TestTransport transport) throws Exception {
        int count = 5000;
        try (var nodes = new TestTransport.Nodes(transport)) {
            var received = new AtomicInteger();
            var told = new AtomicInteger();
            Node one = nodes.start(1, builder -> builder.listener(new NodeListener() {
                @Override
                public void undelivered(Peer peer, long from, long to, Throwable cause) {
                    told.incrementAndGet();
                }
            }));
            nodes.start(2).onMessage(TEXT, (from, message) -> received.incrementAndGet());
            for (int i = 0; i < count; i++) {
                one.peer(2).send(TEXT, "x".repeat(1000));
            }
            one.close();
            assertEquals(count, received.get());
            assertEquals(0, told.get());
            assertThrows(MessagingException.NodeLost.class, () -> one.peer(2).send(TEXT, "late"));
            assertThrows(MessagingException.NodeLost.class, () -> one.peer(3).send(TEXT, "late"));
        }
    }
}
