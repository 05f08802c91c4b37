// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Messages that travel in fragments, when they are given up, and when their connection is to be closed. */
@Timeout(60)
class FragmentsTest {

    private static final MessageType<String> TEXT = new MessageType<>(1, StringCodec.INSTANCE);
    private static final MessageType<String> BLOCKING = new MessageType<>(2, StringCodec.INSTANCE);

    /** So little that the transport takes no more when the other side does not read. */
    private static final UnaryOperator<NodeBuilder> SMALL = builder -> builder.ringCapacity(64 * 1024)
            .sendTimeout(Duration.ofMillis(500))
            .option(ChannelOption.SO_RCVBUF, 64 * 1024).option(ChannelOption.SO_SNDBUF, 64 * 1024);

    static class Slow implements Codec<Integer> {

        private final CountDownLatch half = new CountDownLatch(1);
        private final CountDownLatch go = new CountDownLatch(1);

        @Override
        public int size(Integer length) {
            return length;
        }

        @Override
        public void write(Integer length, Exporter out) {
            for (int i = 0; i < length; i++) {
                if (i == length / 2) {
                    half.countDown();
                    try {
                        go.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
                out.putByte(i);
            }
        }

        @Override
        public Integer read(Importer in) {
            int length = in.remaining();
            ByteBuf bytes = in.getBuffer(length);
            for (int i = 0; i < length; i += 997) {
                assertEquals((byte) i, bytes.getByte(i));
            }
            bytes.release();
            return length;
        }
    }

    /** Waits when its first frame has room, and is not complete. */
    static final class Waiting extends Slow {

        final CountDownLatch go = new CountDownLatch(1);
        /** How many wait, or have waited. */
        final AtomicInteger begun = new AtomicInteger();

        @Override
        public void write(Integer length, Exporter out) {
            out.putByte(0);
            begun.incrementAndGet();
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            for (int i = 1; i < length; i++) {
                out.putByte(i);
            }
        }
    }

    /** Otherwise its receiver would wait for the rest, and acknowledge nothing that came behind its beginning. */
    @ParameterizedTest
    @EnumSource
    void aMessageThatIsGivenUpForWantOfRoomDoesNotKeepOthersFromBeingAcknowledged(TestTransport transport) throws Exception {
        for (boolean fromLoop : new boolean[] {false, true}) {
            try (var nodes = new TestTransport.Nodes(transport)) {
                Node one = nodes.start(1, builder -> SMALL.apply(builder).overflow(0));
                Node two = nodes.start(2, SMALL);
                var go = new CountDownLatch(1);
                var received = new LinkedBlockingQueue<String>();
                var result = new LinkedBlockingQueue<Object>();
                two.onMessage(BLOCKING, (from, message) -> go.await());
                two.onMessage(TEXT, (from, message) -> received.add(message));
                one.onMessage(TEXT, (from, message) -> sendTooMuch(from, result));
                Peer peer = one.peer(2);
                if (fromLoop) {
                    two.peer(1).send(TEXT, "");
                } else {
                    // It is connected before: for that, too, a thread waits no longer than for room.
                    long first = peer.send(TEXT, "");
                    MessagesTest.await("connected", () -> peer.delivery(first) == Peer.Delivery.DELIVERED);
                    assertEquals("", received.poll(10, TimeUnit.SECONDS));
                    long begin = System.nanoTime();
                    sendTooMuch(peer, result);
                    // One wait for room, and not another one to give up.
                    assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(10));
                }
                assertInstanceOf(MessagingException.RingFull.class, result.poll(10, TimeUnit.SECONDS));
                go.countDown();
                long[] ticket = {-1};
                MessagesTest.await("room", () -> {
                    try {
                        ticket[0] = peer.trySend(TEXT, "after");
                        return true;
                    } catch (MessagingException.RingFull e) {
                        return false;
                    }
                });
                assertEquals("after", received.poll(10, TimeUnit.SECONDS));
                MessagesTest.await("acknowledged", () -> peer.delivery(ticket[0]) == Peer.Delivery.DELIVERED);
            }
        }
    }

    private static void sendTooMuch(Peer to, LinkedBlockingQueue<Object> result) {
        to.send(BLOCKING, "");
        try {
            to.send(TEXT, "x".repeat(30_000_000));
            result.add("no failure");
        } catch (MessagingException e) {
            result.add(e);
        }
    }

    /** Whoever closes the connection, and whoever is in the middle of a message. */
    @ParameterizedTest
    @EnumSource
    void aConnectionIsClosedBehindWhatIsUnderWay(TestTransport transport) throws Exception {
        for (int sender = 1; sender <= 2; sender++) {
            var codec = new Slow();
            var type = new MessageType<>(3, codec);
            int length = 1_000_000;
            try (var nodes = new TestTransport.Nodes(transport)) {
                // So long what is halted is not given up.
                Duration patience = Duration.ofSeconds(60);
                Node one = nodes.start(1, builder -> builder.maxConnections(1).goodbyeTimeout(patience));
                Node two = nodes.start(2, builder -> builder.goodbyeTimeout(patience));
                Node three = nodes.start(3);
                var received = new LinkedBlockingQueue<Integer>();
                var texts = new AtomicInteger();
                for (Node node : new Node[] {one, two, three}) {
                    node.onMessage(TEXT, (from, message) -> texts.incrementAndGet());
                    node.onMessage(type, (from, message) -> received.add(message));
                }
                Node from = sender == 1 ? one : two;
                Thread thread = Thread.ofPlatform().start(() -> from.peer(3 - from.id()).send(type, length));
                assertTrue(codec.half.await(10, TimeUnit.SECONDS));
                // All of the half is on its way before the connection is asked to close.
                MessagesTest.await("half", () -> from.metrics().bytesSent() > length / 4);
                long ticket = one.peer(3).send(TEXT, "the one connection is for this");
                MessagesTest.await("the other", () -> one.peer(3).delivery(ticket) == Peer.Delivery.DELIVERED);
                codec.go.countDown();
                thread.join();
                assertEquals(length, received.poll(15, TimeUnit.SECONDS));
                MessagesTest.await("the limit", () -> one.metrics().connections() == 1);
                // Afterwards there is another one for more.
                from.peer(3 - from.id()).send(TEXT, "again");
                MessagesTest.await("again", () -> texts.get() == 2);
                for (Node node : new Node[] {one, two}) {
                    assertEquals(0, node.metrics().undelivered());
                    assertEquals(0, node.metrics().connectionsLost());
                }
            }
        }
    }

    /** A receiver has a limit for such messages, and would not go on with the connection. */
    @ParameterizedTest
    @EnumSource
    void moreThreadsThanMayBeInTheMiddleOfAMessageWait(TestTransport transport) throws Exception {
        int threads = Reassembly.MAX_MESSAGES + 276;
        int length = 70 * 1024;
        var codec = new Waiting();
        var type = new MessageType<>(3, codec);
        try (var nodes = new TestTransport.Nodes(transport)) {
            // It has room for the first frames of all.
            Node one = nodes.start(1, builder -> builder.ringCapacity(128 * 1024 * 1024));
            Node two = nodes.start(2);
            var received = new AtomicInteger();
            two.onMessage(type, (from, message) -> received.addAndGet(message));
            Peer peer = one.peer(2);
            var failure = new AtomicReference<Throwable>();
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                all.add(Thread.ofVirtual().start(() -> {
                    try {
                        peer.send(type, length);
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                    }
                }));
            }
            MessagesTest.await("each has begun or waits",
                    () -> codec.begun.get() + peer.outgoing().ring().waiters().parked() == threads);
            assertEquals(Reassembly.MAX_MESSAGES / 2, codec.begun.get());
            codec.go.countDown();
            for (Thread thread : all) {
                thread.join();
            }
            assertNull(failure.get());
            MessagesTest.await("all", () -> received.get() == threads * length || one.metrics().connectionsLost() > 0);
            assertEquals(threads * length, received.get());
            assertEquals(0, one.metrics().connectionsLost());
            assertEquals(0, one.metrics().undelivered());
        } finally {
            codec.go.countDown();
        }
    }

    /** It ends when its last frame is there; then others begin in its place. */
    @ParameterizedTest
    @EnumSource
    void aMessageThatIsGivenUpMakesRoomForAnother(TestTransport transport) throws Exception {
        var failing = new MessageType<>(3, new Slow() {
            @Override
            public void write(Integer length, Exporter out) {
                out.putByte(0);
                throw new IllegalStateException("the codec's");
            }
        });
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.ringCapacity(64 * 1024));
            var received = new LinkedBlockingQueue<String>();
            nodes.start(2).onMessage(TEXT, (from, message) -> received.add(message));
            for (int i = 0; i < Reassembly.MAX_MESSAGES; i++) {
                assertThrows(IllegalStateException.class, () -> one.peer(2).send(failing, 70 * 1024));
            }
            String text = "x".repeat(70 * 1024);
            one.peer(2).send(TEXT, text);
            assertEquals(text, received.poll(10, TimeUnit.SECONDS));
            assertEquals(0, one.metrics().connectionsLost());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMessageOfANodeThatIsClosedMeanwhileIsGivenUp(TestTransport transport) throws Exception {
        var codec = new Slow();
        var type = new MessageType<>(3, codec);
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.closeTimeout(Duration.ofSeconds(15)));
            Node two = nodes.start(2);
            var received = new LinkedBlockingQueue<Object>();
            two.onMessage(TEXT, (from, message) -> received.add(message));
            two.onMessage(type, (from, message) -> received.add(message));
            var failure = new LinkedBlockingQueue<Throwable>();
            Thread thread = Thread.ofPlatform().start(() -> {
                try {
                    one.peer(2).send(type, 1_000_000);
                    failure.add(new AssertionError("it was sent"));
                } catch (MessagingException.NodeLost e) {
                    failure.add(e);
                }
            });
            assertTrue(codec.half.await(10, TimeUnit.SECONDS));
            one.peer(2).send(TEXT, "before the end");
            Thread closing = Thread.ofPlatform().start(one::close);
            MessagesTest.await("closing", () -> {
                try {
                    one.peer(2).trySend(TEXT, "");
                    return false;
                } catch (MessagingException.NodeLost e) {
                    return true;
                }
            });
            codec.go.countDown();
            thread.join();
            assertInstanceOf(MessagingException.NodeLost.class, failure.take());
            closing.join();
            assertEquals("before the end", received.poll(10, TimeUnit.SECONDS));
            assertEquals(0, one.metrics().undelivered());
            assertThrows(MessagingException.NodeLost.class, () -> one.peer(2).send(TEXT, ""));
        }
    }
}
