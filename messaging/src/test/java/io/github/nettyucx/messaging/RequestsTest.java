// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Each request ends once: with its own response, or with the reason why there is none. */
@Timeout(60)
class RequestsTest {

    private static final RequestType<String, String> ASK =
            new RequestType<>(1, StringCodec.INSTANCE, StringCodec.INSTANCE);
    private static final RequestType<String, String> ASK_POOL =
            new RequestType<>(2, StringCodec.INSTANCE, StringCodec.INSTANCE, Dispatch.POOL);
    private static final Duration LONG = Duration.ofSeconds(20);

    private static <T extends Throwable> T failure(Class<T> type, CompletableFuture<?> future) {
        return assertInstanceOf(type, assertThrows(CompletionException.class, future::join).getCause());
    }

    @ParameterizedTest
    @EnumSource
    void manyThreadsGetTheirOwnResponses(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2);
            two.onRequest(ASK, (from, request, responder) -> responder.respond("loop " + request));
            two.onRequest(ASK_POOL, (from, request, responder) -> responder.respond("pool " + request));
            var failure = new AtomicReference<Throwable>();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                int thread = t;
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        List<CompletableFuture<String>> futures = new ArrayList<>();
                        for (int i = 0; i < 200; i++) {
                            String question = thread + " " + i + "?".repeat(i == 100 ? 200_000 : 1);
                            assertEquals("loop " + question, one.peer(2).request(ASK, question, LONG));
                            assertEquals("pool " + question, one.peer(2).request(ASK_POOL, question, LONG));
                            futures.add(one.peer(2).requestAsync(ASK, question, LONG));
                        }
                        for (int i = 0; i < futures.size(); i++) {
                            assertTrue(futures.get(i).get(20, TimeUnit.SECONDS).startsWith("loop " + thread + " " + i + "?"));
                        }
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertNull(failure.get());
            assertEquals(4 * 600, one.metrics().requests());
            assertEquals(0, one.metrics().responsesLate());
        }
    }

    /** One of them may be a timer, which relies on it. */
    @Test
    void ofTwoThreadsThatAnswerOneIsTold() throws Exception {
        try (var nodes = new TestTransport.Nodes(TestTransport.values()[0])) {
            Peer peer = nodes.start(1).peer(2);
            int rounds = 100_000;
            int fewest = 500;
            var round = new AtomicInteger();
            var answered = new AtomicInteger();
            var current = new AtomicReference<Responder<String>>();
            var over = new AtomicBoolean();
            Thread timer = Thread.ofPlatform().start(() -> {
                for (int next = 1; !over.get(); next++) {
                    while (round.get() < next && !over.get()) {
                        Thread.onSpinWait();
                    }
                    take(current.get(), answered);
                    round.compareAndSet(next, -next);
                    while (round.get() == -next && !over.get()) {
                        Thread.yield();
                    }
                }
            });
            try {
                long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
                for (int i = 1; i <= rounds && (i <= fewest || System.nanoTime() - deadline < 0); i++) {
                    Responder<String> responder = new Responder<>();
                    responder.begin(peer, ASK, i);
                    current.set(responder);
                    round.set(i);
                    take(responder, answered);
                    while (round.get() == i) {
                        Thread.yield();
                    }
                    assertEquals(i, answered.get());
                }
            } finally {
                over.set(true);
                timer.join();
            }
        }
    }

    /** As every answer does. */
    private static void take(Responder<String> responder, AtomicInteger answered) {
        try {
            responder.detach();
            answered.incrementAndGet();
        } catch (IllegalStateException e) {
            // The other one has.
        }
    }

    /** Numbers that are passed over because a request that is not answered has their place do not count. */
    @Test
    void requestsAreCountedAlsoWhereAnOldOneIsInTheWay() throws Exception {
        try (var nodes = new TestTransport.Nodes(TestTransport.values()[0])) {
            Node one = nodes.start(1, builder -> builder.maxRequests(2));
            Node two = nodes.start(2);
            var kept = new LinkedBlockingQueue<Responder<String>>();
            two.onRequest(ASK, (from, request, responder) -> {
                if (request.equals("keep")) {
                    kept.add(responder.detach());
                } else {
                    responder.respond(request);
                }
            });
            CompletableFuture<String> old = one.peer(2).requestAsync(ASK, "keep", LONG);
            for (int i = 0; i < 10; i++) {
                assertEquals("x", one.peer(2).request(ASK, "x", LONG));
            }
            assertEquals(11, one.metrics().requests());

            CompletableFuture<String> last = one.peer(2).requestAsync(ASK, "keep", LONG);
            assertThrows(MessagingException.class, () -> one.peer(2).requestAsync(ASK, "too many", LONG));
            assertEquals(12, one.metrics().requests());
            for (int i = 0; i < 2; i++) {
                kept.take().respond("late");
            }
            assertEquals("late", old.get(20, TimeUnit.SECONDS));
            assertEquals("late", last.get(20, TimeUnit.SECONDS));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRequestThatIsNotAnsweredTimesOutAndALateAnswerIsDropped(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2);
            var kept = new LinkedBlockingQueue<Responder<String>>();
            two.onRequest(ASK, (from, request, responder) -> kept.add(responder.detach()));
            long begin = System.nanoTime();
            assertThrows(MessagingException.RequestTimeout.class,
                    () -> one.peer(2).request(ASK, "sync", Duration.ofMillis(100)));
            assertTrue(System.nanoTime() - begin >= 100_000_000);
            failure(MessagingException.RequestTimeout.class,
                    one.peer(2).requestAsync(ASK, "async", Duration.ofMillis(100)));
            assertEquals(2, one.metrics().requestsTimedOut());
            for (int i = 0; i < 2; i++) {
                kept.take().respond("late");
            }
            MessagesTest.await("late ones", () -> one.metrics().responsesLate() == 2);
            // The thread's next request is not mistaken for the one before.
            CompletableFuture.runAsync(() -> {
                try {
                    kept.take().respond("in time");
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            assertEquals("in time", one.peer(2).request(ASK, "sync", LONG));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCancelledRequestIsForgotten(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2);
            var kept = new LinkedBlockingQueue<Responder<String>>();
            two.onRequest(ASK, (from, request, responder) -> kept.add(responder.detach()));
            CompletableFuture<String> future = one.peer(2).requestAsync(ASK, "question", LONG);
            Responder<String> responder = kept.take();
            assertTrue(future.cancel(true));
            responder.respond("answer");
            MessagesTest.await("late", () -> one.metrics().responsesLate() == 1);
            assertTrue(future.isCancelled());
            assertEquals(1, one.metrics().requestsCancelled());
        }
    }

    @ParameterizedTest
    @EnumSource
    void whyThereIsNoResponseIsTold(TestTransport transport) {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2, builder -> builder.listener(new NodeListener() {
                @Override
                public void failed(Peer peer, int type, Throwable cause) {
                }
            }));
            two.onRequest(ASK, (from, request, responder) -> {
                switch (request) {
                    case "fail" -> responder.fail("as it was told");
                    case "throw" -> throw new IllegalStateException("thrown");
                    default -> { }
                }
            });
            Peer peer = one.peer(2);
            assertEquals("as it was told", assertThrows(MessagingException.RequestRefused.class,
                    () -> peer.request(ASK, "fail", LONG)).getMessage());
            assertTrue(assertThrows(MessagingException.RequestRefused.class,
                    () -> peer.request(ASK, "throw", LONG)).getMessage().contains("thrown"));
            assertTrue(assertThrows(MessagingException.RequestRefused.class,
                    () -> peer.request(ASK, "forget", LONG)).getMessage().contains("without a response"));
            assertTrue(failure(MessagingException.RequestRefused.class, peer.requestAsync(ASK_POOL, "?", LONG))
                    .getMessage().contains("no handler"));
            // A node of its own: to connect to one that is there may take longer.
            Node lonely = nodes.start(4, builder -> builder.reachTimeout(Duration.ofSeconds(2)));
            assertTrue(assertThrows(MessagingException.NodeLost.class,
                    () -> lonely.peer(3).request(ASK, "nobody", LONG)).getMessage().contains("directory"));
            assertThrows(IllegalArgumentException.class, () -> peer.request(ASK, "now", Duration.ZERO));
        }
    }

    @ParameterizedTest
    @EnumSource
    void requestsUnderWayEndWithTheirNode(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2, builder -> builder.closeTimeout(Duration.ofMillis(100)));
            var asked = new AtomicInteger();
            two.onRequest(ASK, (from, request, responder) -> {
                responder.detach();
                asked.incrementAndGet();
            });
            CompletableFuture<String> future = one.peer(2).requestAsync(ASK, "question", LONG);
            MessagesTest.await("asked", () -> asked.get() == 1);
            one.close();
            failure(MessagingException.NodeLost.class, future);
        }
    }

    /** Who has died had asked as well, as the first one of its own. */
    @ParameterizedTest
    @EnumSource
    void aNodeThatWasStartedAgainIsNotAnsweredWhatTheOneBeforeHasAsked(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node two = nodes.start(2);
            var kept = new LinkedBlockingQueue<Responder<String>>();
            two.onRequest(ASK, (from, request, responder) -> kept.add(responder.detach()));
            Node before = nodes.start(1);
            CompletableFuture<String> never = before.peer(2).requestAsync(ASK, "before", LONG);
            Responder<String> old = kept.take();
            before.close();
            failure(MessagingException.NodeLost.class, never);
            Node after = nodes.start(1);
            CompletableFuture<String> future = after.peer(2).requestAsync(ASK, "after", LONG);
            Responder<String> own = kept.take();
            old.respond("to the one before");
            own.respond("to this one");
            assertEquals("to this one", future.get(20, TimeUnit.SECONDS));
            assertEquals(1, after.metrics().responsesLate());
        }
    }

    @ParameterizedTest
    @EnumSource
    void anAnswerOfAnotherNodeEndsNoRequest(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node three = nodes.start(3);
            var request = new FuturePending<String>(one, ASK.number());
            request.peer = one.peer(2);
            request.codec = StringCodec.INSTANCE;
            one.requests().add(request);
            three.peer(1).answer(Frame.RESPONSE, ASK.number(), request.correlation, StringCodec.INSTANCE, "wrong");
            MessagesTest.await("late", () -> one.metrics().responsesLate() == 1 || request.future().isDone());
            assertFalse(request.future().isDone());
            assertSame(request, one.requests().take(request.correlation));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aLoopMustNotWaitButMayAsk(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2);
            two.onRequest(ASK, (from, request, responder) -> responder.respond(request + "!"));
            var results = new LinkedBlockingQueue<Object>();
            one.onMessage(new MessageType<>(5, StringCodec.INSTANCE), (from, message) -> {
                try {
                    from.request(ASK, message, LONG);
                } catch (IllegalStateException e) {
                    results.add("refused");
                }
                from.requestAsync(ASK, message, LONG, new ResponseHandler<>() {
                    private int left = 100;

                    @Override
                    public void onResponse(String response) {
                        if (--left == 0) {
                            results.add(response);
                        } else {
                            from.requestAsync(ASK, response, LONG, this);
                        }
                    }

                    @Override
                    public void onFailure(MessagingException cause) {
                        results.add(cause);
                    }
                });
            });
            two.peer(1).send(new MessageType<>(5, StringCodec.INSTANCE), "");
            assertEquals("refused", results.poll(10, TimeUnit.SECONDS));
            assertEquals("!".repeat(100), results.poll(10, TimeUnit.SECONDS));
        }
    }

    private static final class Throwing implements ResponseHandler<String> {

        private final AtomicInteger calls = new AtomicInteger();

        @Override
        public void onResponse(String response) {
            calls.incrementAndGet();
            throw new IllegalStateException("the callback's");
        }

        @Override
        public void onFailure(MessagingException cause) {
            calls.incrementAndGet();
            throw new AssertionError("the callback's");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCallbackThatThrowsIsToldAndOtherRequestsEndAsTheyShould(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            var told = new LinkedBlockingQueue<Throwable>();
            Node one = nodes.start(1, builder -> builder.closeTimeout(Duration.ofMillis(100)).listener(new NodeListener() {
                @Override
                public void failed(Peer peer, int type, Throwable cause) {
                    told.add(cause);
                }
            }));
            Node two = nodes.start(2, builder -> builder.closeTimeout(Duration.ofMillis(100)));
            two.onRequest(ASK, (from, request, responder) -> {
                if (request.equals("answer")) {
                    responder.respond("");
                } else {
                    responder.detach();
                }
            });
            var callback = new Throwing();
            Peer peer = one.peer(2);
            peer.requestAsync(ASK, "answer", LONG, callback);
            assertEquals("the callback's", told.poll(10, TimeUnit.SECONDS).getMessage());
            // Some end in the same look at the deadlines, some in a later one.
            for (int round = 0; round < 2; round++) {
                for (int i = 0; i < 3; i++) {
                    peer.requestAsync(ASK, "?", Duration.ofMillis(50), callback);
                }
                CompletableFuture<String> after = peer.requestAsync(ASK, "?", Duration.ofMillis(100));
                assertInstanceOf(MessagingException.RequestTimeout.class, assertThrows(
                        ExecutionException.class, () -> after.get(10, TimeUnit.SECONDS)).getCause());
            }
            for (int i = 0; i < 3; i++) {
                peer.requestAsync(ASK, "?", LONG, callback);
            }
            CompletableFuture<String> last = peer.requestAsync(ASK, "?", LONG);
            one.close();
            assertTrue(last.isDone());
            failure(MessagingException.NodeLost.class, last);
            assertEquals(1 + 6 + 3, callback.calls.get());
            MessagesTest.await("told", () -> told.size() == 6 + 3);
        }
    }
}
