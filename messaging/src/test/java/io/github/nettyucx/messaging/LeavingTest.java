// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A connection that one side wants to close is closed, however many messages in fragments the other side sends. */
@Timeout(120)
class LeavingTest {

    private static final MessageType<String> TEXT = new MessageType<>(1, StringCodec.INSTANCE);
    private static final int LARGE = 2 * 1024 * 1024;
    private static final int STREAMS = 8;
    private static final byte[] FILLING = new byte[16 * 1024];

    /** A message is a number, and much behind it. */
    private static class Large implements Codec<Integer> {

        @Override
        public int size(Integer number) {
            return LARGE;
        }

        @Override
        public void write(Integer number, Exporter out) {
            out.putInt(number);
            for (int left = LARGE - 4; left > 0; left -= FILLING.length) {
                out.putRaw(FILLING, 0, Math.min(left, FILLING.length));
            }
        }

        @Override
        public Integer read(Importer in) {
            int number = in.getInt();
            in.getBuffer(LARGE - 4).release();
            return number;
        }
    }

    /** Writes the half of it, and goes on when it is told to. */
    private static final class Halting extends Large {

        private final CountDownLatch half = new CountDownLatch(1);
        private final CountDownLatch go = new CountDownLatch(1);

        @Override
        public void write(Integer number, Exporter out) {
            out.putInt(number);
            out.putRaw(new byte[LARGE / 2], 0, LARGE / 2);
            half.countDown();
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            out.putRaw(new byte[LARGE / 2 - 4], 0, LARGE / 2 - 4);
        }
    }

    /** Fails in the middle of it. */
    private static final class Failing extends Large {

        @Override
        public void write(Integer number, Exporter out) {
            out.putRaw(new byte[LARGE / 2], 0, LARGE / 2);
            throw new IllegalStateException("the codec's");
        }
    }

    private record Sent(long ticket, int number) {
    }

    private static void awaitDelivery(Peer to, long ticket) throws InterruptedException {
        MessagesTest.await("delivered", () -> to.delivery(ticket) == Peer.Delivery.DELIVERED);
    }

    /** The connection of node 2 is to be closed by node 1, which has no other one for its messages to node 2 until it is. */
    @ParameterizedTest
    @EnumSource
    void aNodeThatStreamsLargeMessagesIsReachedByTheOneThatClosesTheConnection(TestTransport transport) throws Exception {
        var large = new MessageType<>(2, new Large());
        var arrived = new ConcurrentLinkedQueue<Integer>();
        var sent = new ConcurrentLinkedQueue<Sent>();
        var failure = new AtomicReference<Throwable>();
        var stop = new AtomicBoolean();
        var next = new AtomicInteger();
        List<Thread> streams = new ArrayList<>();
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.maxConnections(1));
            Node two = nodes.start(2);
            Node three = nodes.start(3);
            var texts = new AtomicInteger();
            one.onMessage(large, (from, number) -> arrived.add(number));
            for (Node node : new Node[] {one, two, three}) {
                node.onMessage(TEXT, (from, message) -> texts.incrementAndGet());
            }
            for (int i = 0; i < STREAMS; i++) {
                streams.add(Thread.ofPlatform().start(() -> {
                    try {
                        while (!stop.get()) {
                            int number = next.getAndIncrement();
                            sent.add(new Sent(two.peer(1).send(large, number), number));
                        }
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                    }
                }));
            }
            MessagesTest.await("all streams", () -> arrived.size() >= STREAMS);
            int rounds = 3;
            for (int round = 0; round < rounds; round++) {
                awaitDelivery(three.peer(1), three.peer(1).send(TEXT, "the one connection is for this"));
                long begin = System.nanoTime();
                awaitDelivery(one.peer(2), one.peer(2).send(TEXT, "who closes it has something to say"));
                assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(10));
                MessagesTest.await("the limit", () -> one.metrics().connections() == 1);
            }
            stop.set(true);
            for (Thread stream : streams) {
                stream.join();
            }
            assertNull(failure.get());
            // None is lost or doubled, nor has to be told of, when connections are closed in good order.
            for (Sent each : sent) {
                awaitDelivery(two.peer(1), each.ticket);
            }
            assertEquals(sent.stream().map(Sent::number).sorted().toList(), arrived.stream().sorted().toList());
            assertEquals(2 * rounds, texts.get());
            assertTrue(one.metrics().connectionsClosed() >= rounds);
            for (Node node : new Node[] {one, two, three}) {
                assertEquals(0, node.metrics().undelivered());
                assertEquals(0, node.metrics().connectionsLost());
            }
        } finally {
            stop.set(true);
        }
    }

    /** Threads wait, event loops do not, and what each of them sends keeps its order. */
    @ParameterizedTest
    @EnumSource
    void whatIsSentWhileAConnectionIsBeingClosedGoesOverTheNextOne(TestTransport transport) throws Exception {
        var halting = new Halting();
        var halt = new MessageType<>(2, halting);
        var large = new MessageType<>(3, new Large());
        var failing = new MessageType<>(3, new Failing());
        try (var nodes = new TestTransport.Nodes(transport)) {
            // So long no message that is halted is given up.
            Duration patience = Duration.ofSeconds(60);
            Node one = nodes.start(1, builder -> builder.maxConnections(1).goodbyeTimeout(patience));
            // There is room for all in the ring, and for two messages beside it.
            Node two = nodes.start(2, builder -> builder.ringCapacity(8 * 1024 * 1024).overflow(5 * LARGE / 2)
                    .goodbyeTimeout(patience));
            Node three = nodes.start(3);
            var arrived = new LinkedBlockingQueue<Object>();
            one.onMessage(halt, (from, number) -> arrived.add(number));
            one.onMessage(large, (from, number) -> arrived.add(number));
            one.onMessage(TEXT, (from, message) -> arrived.add(message));
            var loopIsDone = new CountDownLatch(1);
            two.onMessage(TEXT, (from, message) -> {
                Peer to = two.peer(1);
                to.send(TEXT, "before");
                for (int i = 0; i < 3; i++) {
                    assertThrows(IllegalStateException.class, () -> to.send(failing, 3));
                }
                assertEquals(Peer.NO_TICKET, to.send(large, 1));
                assertEquals(Peer.NO_TICKET, to.send(TEXT, "between"));
                assertEquals(Peer.NO_TICKET, to.send(large, 2));
                assertEquals(Peer.NO_TICKET, to.send(TEXT, "behind"));
                loopIsDone.countDown();
            });
            Thread halted = Thread.ofPlatform().start(() -> two.peer(1).send(halt, 0));
            assertTrue(halting.half.await(10, TimeUnit.SECONDS));
            MessagesTest.await("the connection", () -> !two.peer(1).connections().isEmpty());
            three.peer(1).send(TEXT, "from 3");
            assertEquals("from 3", arrived.poll(10, TimeUnit.SECONDS));
            MessagesTest.await("its end is wanted", () -> two.peer(1).isLeaving());
            three.peer(2).send(TEXT, "go");
            assertTrue(loopIsDone.await(10, TimeUnit.SECONDS));
            assertThrows(MessagingException.RingFull.class, () -> two.peer(1).trySend(large, 3));
            long small = two.peer(1).trySend(TEXT, "of a thread");
            var ticket = new AtomicReference<Long>();
            Thread waiting = Thread.ofPlatform().start(() -> ticket.set(two.peer(1).send(large, 4)));
            MessagesTest.await("a thread waits", () -> two.peer(1).outgoing().ring().waiters().parked() == 1);
            assertEquals(0, arrived.size());
            halting.go.countDown();
            halted.join();
            waiting.join();
            List<Object> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                all.add(arrived.poll(10, TimeUnit.SECONDS));
            }
            assertTrue(all.removeAll(List.of(0, 4, "of a thread")));
            assertEquals(List.of("before", 1, "between", 2, "behind"), all);
            awaitDelivery(two.peer(1), small);
            awaitDelivery(two.peer(1), ticket.get());
            assertEquals(0, one.metrics().unhandled() + two.metrics().unhandled());
            for (Node node : new Node[] {one, two, three}) {
                assertEquals(0, node.metrics().undelivered());
                assertEquals(0, node.metrics().connectionsLost());
            }
        } finally {
            halting.go.countDown();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMessageOfWhichNothingComesDoesNotKeepAConnectionFromBeingClosed(TestTransport transport) throws Exception {
        var halting = new Halting();
        var halt = new MessageType<>(2, halting);
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.maxConnections(1));
            Node two = nodes.start(2);
            Node three = nodes.start(3);
            var arrived = new LinkedBlockingQueue<Object>();
            one.onMessage(halt, (from, number) -> arrived.add(number));
            for (Node node : new Node[] {one, two, three}) {
                node.onMessage(TEXT, (from, message) -> arrived.add(message));
            }
            var ticket = new AtomicReference<Long>();
            long begin = System.nanoTime();
            Thread halted = Thread.ofPlatform().start(() -> ticket.set(two.peer(1).send(halt, 0)));
            assertTrue(halting.half.await(10, TimeUnit.SECONDS));
            MessagesTest.await("the connection", () -> !two.peer(1).connections().isEmpty());
            three.peer(1).send(TEXT, "from 3");
            assertEquals("from 3", arrived.poll(10, TimeUnit.SECONDS));
            awaitDelivery(one.peer(2), one.peer(2).send(TEXT, "from 1"));
            assertEquals("from 1", arrived.poll(10, TimeUnit.SECONDS));
            assertTrue(System.nanoTime() - begin >= TimeUnit.SECONDS.toNanos(5), "given up too early");
            halting.go.countDown();
            halted.join();
            assertEquals(Peer.Delivery.UNDELIVERED, two.peer(1).delivery(ticket.get()));
            awaitDelivery(two.peer(1), two.peer(1).send(TEXT, "from 2"));
            assertEquals(List.of("from 2"), List.copyOf(arrived));
            assertEquals(1, two.metrics().undelivered());
            for (Node node : new Node[] {one, two, three}) {
                assertEquals(0, node.metrics().connectionsLost());
            }
        } finally {
            halting.go.countDown();
        }
    }
}
