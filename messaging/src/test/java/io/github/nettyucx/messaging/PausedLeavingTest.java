// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.EventLoop;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A connection of which nothing is read for long, because a pool is slow, is closed as late as it takes to lose nothing. */
@Timeout(60)
class PausedLeavingTest {

    private static final MessageType<String> TEXT = new MessageType<>(1, StringCodec.INSTANCE);
    private static final MessageType<String> ORDERED = new MessageType<>(2, StringCodec.INSTANCE, Dispatch.POOL_IN_ORDER);
    /** A quarter of it may pass without a sign of life, also on a machine that has other things to do. */
    private static final Duration LIMIT = Duration.ofSeconds(3);
    /** Half of it a thread that is in the middle of a message may stand still when there is room again. */
    private static final Duration LIMIT_IN_THE_MIDDLE = Duration.ofSeconds(5);
    /** More than may wait for the pool. */
    private static final int MANY = 6000;
    private static final String FILLING = "x".repeat(100);
    private static final String LARGE = "x".repeat(30_000_000);

    private final ExecutorService threads = Executors.newSingleThreadExecutor();
    private final CountDownLatch go = new CountDownLatch(1);
    private final AtomicInteger handled = new AtomicInteger();
    private final AtomicInteger texts = new AtomicInteger();

    @AfterEach
    void end() {
        go.countDown();
        threads.shutdownNow();
    }

    private Node slow(TestTransport.Nodes nodes, int maxConnections, Duration limit) {
        Node one = nodes.start(1, builder -> builder.maxConnections(maxConnections).executor(threads).goodbyeTimeout(limit));
        one.onMessage(ORDERED, (from, message) -> {
            go.await();
            handled.incrementAndGet();
        });
        one.onMessage(TEXT, (from, message) -> texts.incrementAndGet());
        return one;
    }

    private static void sendMuch(Node from, Node to, int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            from.peer(to.id()).send(ORDERED, FILLING);
        }
        MessagesTest.await("nothing is read", () -> to.peer(from.id()).connections().stream()
                .anyMatch(connection -> !connection.channel().config().isAutoRead()));
        // What is still in the ring when the connection is being closed would take another one.
        MessagesTest.await("all has been given to the channel", () -> from.peer(to.id()).outgoing().isEmpty());
    }

    private static boolean isBeingClosed(Node from, Node to) {
        return from.peer(to.id()).connections().stream().anyMatch(Connection::isLeaving);
    }

    private static void assertNothingLost(Node... nodes) {
        for (Node node : nodes) {
            assertEquals(0, node.metrics().undelivered());
            assertEquals(0, node.metrics().connectionsLost());
        }
    }

    /**
     * Longer than the limit and a quarter of it, in which the other side has once more shown that it lives, and than a message
     * in the middle would be waited for, which is half of it. The time itself is the test: that nothing is given up in it is no
     * event that could be waited for.
     */
    private static void outlast(Duration limit) throws InterruptedException {
        Thread.sleep(limit.toMillis() * 4 / 3);
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsLostThoughTheGoodbyeIsNotReadInTime(TestTransport transport) throws Exception {
        closeWhilePaused(transport, false);
    }

    @ParameterizedTest
    @EnumSource
    void aMessageInTheMiddleIsNotGivenUpThoughNothingOfItGoes(TestTransport transport) throws Exception {
        closeWhilePaused(transport, true);
    }

    private void closeWhilePaused(TestTransport transport, boolean inTheMiddle) throws Exception {
        Duration limit = inTheMiddle ? LIMIT_IN_THE_MIDDLE : LIMIT;
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = slow(nodes, 1, limit);
            Node two = nodes.start(2, builder -> builder.goodbyeTimeout(limit));
            Node three = nodes.start(3, builder -> builder.goodbyeTimeout(limit));
            sendMuch(two, one, MANY);
            var failure = new AtomicReference<Throwable>();
            Thread thread = Thread.ofPlatform().start(() -> {
                try {
                    if (inTheMiddle) {
                        two.peer(1).send(TEXT, LARGE);
                    }
                } catch (Throwable e) {
                    failure.set(e);
                }
            });
            if (inTheMiddle) {
                MessagesTest.await("as much as goes", () -> two.peer(1).outgoing().isInTheMiddle()
                        && two.peer(1).outgoing().ring().waiters().parked() == 1);
            }
            three.peer(1).send(TEXT, "the one connection is for this");
            MessagesTest.await("the other", () -> texts.get() == 1);
            MessagesTest.await("the end is wanted", () -> isBeingClosed(two, one));
            outlast(limit);
            go.countDown();
            MessagesTest.await("all are handled", () -> handled.get() == MANY);
            thread.join();
            assertNull(failure.get());
            MessagesTest.await("and the large one", () -> texts.get() == (inTheMiddle ? 2 : 1));
            MessagesTest.await("the limit", () -> one.metrics().connectionsClosed() == 1);
            MessagesTest.await("at the other side", () -> two.metrics().connectionsClosed() == 1);
            assertNothingLost(one, two, three);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSenderThatClosesTheConnectionWaitsForTheOtherNodesPool(TestTransport transport) throws Exception {
        closeBySender(transport, MANY);
    }

    /** All that it has sent has been read and acknowledged. */
    @ParameterizedTest
    @EnumSource
    void soDoesOneOfWhichOnlyTheGoodbyeIsNotRead(TestTransport transport) throws Exception {
        closeBySender(transport, Inbox.LIMIT);
    }

    private void closeBySender(TestTransport transport, int count) throws Exception {
        var answers = new AtomicInteger();
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = slow(nodes, 1, LIMIT);
            Node two = nodes.start(2, builder -> builder.maxConnections(1).goodbyeTimeout(LIMIT));
            two.onMessage(TEXT, (from, message) -> answers.incrementAndGet());
            Node three = nodes.start(3);
            three.onMessage(TEXT, (from, message) -> answers.incrementAndGet());
            sendMuch(two, one, count);
            if (count == Inbox.LIMIT) {
                MessagesTest.await("all is acknowledged", () -> two.peer(1).isSettled());
            }
            two.peer(3).send(TEXT, "the one connection is for this");
            MessagesTest.await("the other", () -> answers.get() == 1);
            MessagesTest.await("the end is wanted", () -> isBeingClosed(two, one));
            outlast(LIMIT);
            one.peer(2).send(TEXT, "by who does not know yet that it is being closed");
            MessagesTest.await("the answer", () -> answers.get() == 2);
            go.countDown();
            MessagesTest.await("all are handled", () -> handled.get() == count);
            MessagesTest.await("the limit", () -> two.metrics().connectionsClosed() == 1);
            MessagesTest.await("at the other side", () -> one.metrics().connectionsClosed() == 1);
            assertNothingLost(one, two, three);
        }
    }

    /** The time for that is the node's own, not that of a goodbye. */
    @ParameterizedTest
    @EnumSource
    void aNodeThatIsClosedWaitsForWhatItHasSentOverAConnectionThatIsLeaving(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = slow(nodes, 1, LIMIT);
            Node two = nodes.start(2, builder -> builder.goodbyeTimeout(LIMIT).closeTimeout(Duration.ofSeconds(40)));
            Node three = nodes.start(3);
            sendMuch(two, one, MANY);
            three.peer(1).send(TEXT, "the one connection is for this");
            MessagesTest.await("the end is wanted", () -> isBeingClosed(two, one));
            Thread closing = Thread.ofPlatform().start(two::close);
            outlast(LIMIT);
            go.countDown();
            closing.join();
            assertEquals(0, two.metrics().undelivered());
            // What is acknowledged has been handed to the pool, of which the last may still be waiting there.
            MessagesTest.await("all are handled", () -> handled.get() == MANY);
        }
    }

    /** Its channel may take long to end, as long as the other node takes nothing of what has been written. */
    @ParameterizedTest
    @EnumSource
    void whatIsSentAfterAConnectionHasFailedGoesOverTheNextOne(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = slow(nodes, 2, LIMIT);
            Node two = nodes.start(2);
            sendMuch(two, one, MANY);
            Peer peer = two.peer(1);
            Connection failed = peer.connections().getFirst();
            failed.loop().submit(() -> {
                failed.fail(new MessagingException("for a test"));
                assertFalse(failed.isUsable());
            }).get();
            long ticket = peer.send(TEXT, "over the next one");
            go.countDown();
            MessagesTest.await("it is known", () -> peer.delivery(ticket) != Peer.Delivery.PENDING);
            assertEquals(Peer.Delivery.DELIVERED, peer.delivery(ticket));
            assertEquals(1, texts.get());
        }
    }

    /** As when the machine stands still. The loop that waits for the goodbye comes to itself first. */
    @ParameterizedTest
    @EnumSource
    void nothingIsLostThoughBothLoopsStandStillForLongerThanTheLimit(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = slow(nodes, 1, LIMIT);
            Node two = nodes.start(2, builder -> builder.goodbyeTimeout(LIMIT));
            Node three = nodes.start(3);
            sendMuch(two, one, MANY);
            EventLoop silent = one.peer(2).connections().getFirst().loop();
            EventLoop waiting = two.peer(1).connections().getFirst().loop();
            three.peer(1).send(TEXT, "the one connection is for this");
            MessagesTest.await("the other", () -> texts.get() == 1);
            MessagesTest.await("the end is wanted", () -> isBeingClosed(two, one));
            CountDownLatch still = new CountDownLatch(2);
            CountDownLatch first = new CountDownLatch(1);
            CountDownLatch second = new CountDownLatch(1);
            standStill(waiting, still, first);
            standStill(silent, still, second);
            still.await();
            outlast(LIMIT);
            go.countDown();
            first.countDown();
            // What was due has been done, and what that made due at once.
            waiting.schedule(() -> {
            }, 10, TimeUnit.MILLISECONDS).get();
            second.countDown();
            MessagesTest.await("all are handled", () -> handled.get() == MANY);
            MessagesTest.await("the limit", () -> one.metrics().connectionsClosed() == 1);
            MessagesTest.await("at the other side", () -> two.metrics().connectionsClosed() == 1);
            assertNothingLost(one, two, three);
        }
    }

    private static void standStill(EventLoop loop, CountDownLatch still, CountDownLatch end) {
        loop.execute(() -> {
            still.countDown();
            try {
                end.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }

    /** It was used more recently than the one of which nothing is read. */
    @ParameterizedTest
    @EnumSource
    void anotherConnectionGoesFirst(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = slow(nodes, 2, LIMIT);
            Node two = nodes.start(2);
            Node three = nodes.start(3);
            Node four = nodes.start(4);
            sendMuch(two, one, MANY);
            for (Node node : new Node[] {three, four}) {
                long ticket = node.peer(1).send(TEXT, "");
                MessagesTest.await("delivered", () -> node.peer(1).delivery(ticket) == Peer.Delivery.DELIVERED);
            }
            MessagesTest.await("the limit", () -> one.metrics().connectionsClosed() == 1);
            MessagesTest.await("at the other side", () -> three.metrics().connections() == 0);
            assertTrue(one.peer(2).connections().stream().noneMatch(Connection::isLeaving));
            go.countDown();
            MessagesTest.await("all are handled", () -> handled.get() == MANY);
        }
    }
}
