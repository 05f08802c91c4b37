// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What the node's executor handles goes on, whatever handlers, executors and peers do. */
@Timeout(60)
class PoolTest {

    private static final MessageType<String> ORDERED = new MessageType<>(1, StringCodec.INSTANCE, Dispatch.POOL_IN_ORDER);
    private static final MessageType<String> UNORDERED = new MessageType<>(2, StringCodec.INSTANCE, Dispatch.POOL);
    private static final MessageType<String> LOOP = new MessageType<>(3, StringCodec.INSTANCE);
    private static final List<MessageType<String>> TYPES = List.of(ORDERED, UNORDERED, LOOP);
    private static final RequestType<String, String> ASK_ORDERED =
            new RequestType<>(4, StringCodec.INSTANCE, StringCodec.INSTANCE, Dispatch.POOL_IN_ORDER);
    private static final RequestType<String, String> ASK_UNORDERED =
            new RequestType<>(5, StringCodec.INSTANCE, StringCodec.INSTANCE, Dispatch.POOL);
    private static final RequestType<String, String> ASK_LOOP =
            new RequestType<>(6, StringCodec.INSTANCE, StringCodec.INSTANCE);
    private static final List<RequestType<String, String>> REQUESTS = List.of(ASK_ORDERED, ASK_UNORDERED, ASK_LOOP);
    private static final Duration LONG = Duration.ofSeconds(10);

    private static int endlessly(int depth) {
        return endlessly(depth + 1) + 1;
    }

    private static final class Failures implements NodeListener {

        final LinkedBlockingQueue<Throwable> told = new LinkedBlockingQueue<>();

        @Override
        public void failed(Peer peer, int type, Throwable cause) {
            told.add(cause);
        }
    }

    @ParameterizedTest
    @EnumSource
    void anErrorInAHandlerIsToldAndTheSendersOtherMessagesAreHandled(TestTransport transport) throws Exception {
        int rounds = 100;
        try (var nodes = new TestTransport.Nodes(transport)) {
            var failures = new Failures();
            var fine = new AtomicInteger();
            Node one = nodes.start(1);
            Node two = nodes.start(2, builder -> builder.listener(failures));
            for (MessageType<String> type : TYPES) {
                two.onMessage(type, (from, message) -> {
                    switch (message) {
                        case "assert" -> throw new AssertionError("the handler's");
                        case "deep" -> endlessly(0);
                        default -> fine.incrementAndGet();
                    }
                });
            }
            for (RequestType<String, String> type : REQUESTS) {
                two.onRequest(type, (from, request, responder) -> {
                    throw new AssertionError("the handler's");
                });
            }
            for (MessageType<String> type : TYPES) {
                for (int i = 0; i < rounds; i++) {
                    one.peer(2).send(type, i % 10 == 0 ? "deep" : "assert");
                    one.peer(2).send(type, "fine");
                }
            }
            MessagesTest.await("all", () -> fine.get() == TYPES.size() * rounds);
            MessagesTest.await("told", () -> failures.told.size() == TYPES.size() * rounds);
            for (RequestType<String, String> type : REQUESTS) {
                assertTrue(assertThrows(MessagingException.RequestRefused.class,
                        () -> one.peer(2).request(type, "?", LONG)).getMessage().contains("the handler's"));
            }
            assertEquals(0, one.metrics().connectionsLost());
            assertEquals(TYPES.size() * rounds + REQUESTS.size(), two.metrics().unhandled());
        }
    }

    /** Also if it has been declared by nobody. */
    @SuppressWarnings("unchecked")
    static <T extends Throwable> void rethrow(Throwable failure) throws T {
        throw (T) failure;
    }

    private static Stream<Arguments> rejections() {
        return Stream.of(TestTransport.values()).flatMap(transport -> Stream.of(new RejectedExecutionException("no threads"),
                new IllegalStateException("no threads"), new NoClassDefFoundError("no threads"),
                new IOException("no threads")).map(failure -> Arguments.of(transport, failure)));
    }

    @ParameterizedTest
    @MethodSource("rejections")
    void anExecutorThatRejectsIsToldAndWhatComesLaterIsHandled(TestTransport transport, Throwable rejection)
            throws Exception {
        var threads = (ThreadPoolExecutor) Executors.newFixedThreadPool(2);
        var rejecting = new AtomicBoolean();
        try (var nodes = new TestTransport.Nodes(transport)) {
            var failures = new Failures();
            var handled = new AtomicInteger();
            var began = new CountDownLatch(1);
            var go = new CountDownLatch(1);
            Node one = nodes.start(1);
            Node two = nodes.start(2, builder -> builder.listener(failures).executor(task -> {
                if (rejecting.get()) {
                    rethrow(rejection);
                }
                threads.execute(task);
            }));
            for (MessageType<String> type : List.of(ORDERED, UNORDERED)) {
                two.onMessage(type, (from, message) -> {
                    if (message.equals("wait")) {
                        began.countDown();
                        go.await();
                    }
                    handled.incrementAndGet();
                });
            }
            for (RequestType<String, String> type : List.of(ASK_ORDERED, ASK_UNORDERED)) {
                two.onRequest(type, (from, request, responder) -> responder.respond(request));
            }
            Peer peer = one.peer(2);
            rejecting.set(true);
            peer.send(ORDERED, "x");
            peer.send(UNORDERED, "x");
            for (RequestType<String, String> type : List.of(ASK_ORDERED, ASK_UNORDERED)) {
                assertTrue(assertThrows(MessagingException.RequestRefused.class, () -> peer.request(type, "?", LONG))
                        .getMessage().contains("no threads"));
            }
            assertEquals(4, failures.told.size());
            assertEquals(0, handled.get());
            rejecting.set(false);
            peer.send(ORDERED, "wait");
            assertTrue(began.await(10, TimeUnit.SECONDS));
            // More than a sender has in one go, so that the executor is asked again by one of its own threads.
            long last = 0;
            for (int i = 0; i < 300; i++) {
                last = peer.send(ORDERED, "x");
            }
            long ticket = last;
            MessagesTest.await("all are there", () -> peer.delivery(ticket) == Peer.Delivery.DELIVERED);
            rejecting.set(true);
            go.countDown();
            MessagesTest.await("each is told or handled", () -> handled.get() + failures.told.size() == 301 + 4);
            assertTrue(failures.told.size() > 4, "the executor was not asked again");
            // Who has told of the last one is to have left the queue before there is another message in it.
            MessagesTest.await("the threads are done", () -> threads.getActiveCount() == 0);
            rejecting.set(false);
            int before = handled.get();
            peer.send(ORDERED, "x");
            peer.send(UNORDERED, "x");
            MessagesTest.await("later ones", () -> handled.get() == before + 2);
            assertEquals("?", peer.request(ASK_ORDERED, "?", LONG));
        } finally {
            threads.shutdownNow();
        }
    }

    /** Reading is to go on when half of it is handled; but nothing reads any more. The transport's loops end with the node. */
    @Test
    void whatThePoolHasIsHandledAndReleasedThoughItsNodeHasBeenClosed() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(1);
        var go = new CountDownLatch(1);
        var released = new AtomicInteger();
        var counted = new MessageType<>(7, new Codec<String>() {
            @Override
            public int size(String message) {
                return StringCodec.INSTANCE.size(message);
            }

            @Override
            public void write(String message, Exporter out) {
                StringCodec.INSTANCE.write(message, out);
            }

            @Override
            public String read(Importer in) {
                return StringCodec.INSTANCE.read(in);
            }

            @Override
            public void release(String message) {
                released.incrementAndGet();
            }
        }, Dispatch.POOL_IN_ORDER);
        try (var nodes = new TestTransport.Nodes(TestTransport.UCX)) {
            var handled = new AtomicInteger();
            Node one = nodes.start(1, builder -> builder.closeTimeout(Duration.ofMillis(100)));
            Node two = nodes.start(2, builder -> builder.executor(threads));
            two.onMessage(counted, (from, message) -> {
                go.await();
                handled.incrementAndGet();
            });
            Peer peer = one.peer(2);
            long[] tickets = new long[3 * Inbox.LIMIT];
            for (int i = 0; i < tickets.length; i++) {
                tickets[i] = peer.send(counted, "x");
            }
            MessagesTest.await("as much as may wait",
                    () -> peer.delivery(tickets[Inbox.LIMIT - 1]) == Peer.Delivery.DELIVERED);
            two.close();
            MessagesTest.await("the rest is told", () -> peer.connections().isEmpty());
            long delivered = Arrays.stream(tickets).filter(ticket -> peer.delivery(ticket) == Peer.Delivery.DELIVERED).count();
            go.countDown();
            MessagesTest.await("all that was delivered is handled", () -> handled.get() >= delivered);
            MessagesTest.await("and released", () -> released.get() >= delivered);
            assertFalse(threads.submit(Inbox::isHandling).get());
            assertEquals(delivered, handled.get());
            assertEquals(delivered, released.get());
        } finally {
            go.countDown();
            threads.shutdownNow();
        }
    }
}
