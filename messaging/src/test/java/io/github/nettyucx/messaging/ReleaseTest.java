// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a codec has taken out of its pool it gets back once, when nobody needs it any more. */
@Timeout(60)
class ReleaseTest {

    private static final Duration LONG = Duration.ofSeconds(10);

    /** An object of a pool. */
    private static final class Item {

        private final String text;
        private final AtomicInteger releases = new AtomicInteger();
        private volatile Thread handledBy;
        private volatile Thread releasedBy;

        private Item(String text) {
            this.text = text;
        }
    }

    /** Remembers all that it has given, and never gives one twice. */
    private static final class Pool implements Codec<Item> {

        private final ConcurrentLinkedQueue<Item> given = new ConcurrentLinkedQueue<>();

        @Override
        public int size(Item message) {
            return Exporter.sizeOf(message.text);
        }

        @Override
        public void write(Item message, Exporter out) {
            out.putString(message.text);
        }

        @Override
        public Item read(Importer in) {
            Item item = new Item(in.getString());
            given.add(item);
            return item;
        }

        @Override
        public void release(Item message) {
            message.releasedBy = Thread.currentThread();
            message.releases.incrementAndGet();
            if (message.text.equals("bad release")) {
                throw new IllegalStateException("the pool's");
            }
        }

        int releases() {
            return given.stream().mapToInt(item -> item.releases.get()).sum();
        }

        /** Each of so many has come back, once. */
        void awaitAll(int count) throws InterruptedException {
            MessagesTest.await("all are given back", () -> given.size() == count && releases() >= count);
            assertOnce();
        }

        void assertOnce() {
            for (Item item : given) {
                assertEquals(1, item.releases.get(), item.text);
            }
        }
    }

    private final Pool pool = new Pool();
    private final Pool responses = new Pool();
    private final List<MessageType<Item>> types = List.of(new MessageType<>(1, pool),
            new MessageType<>(2, pool, Dispatch.POOL), new MessageType<>(3, pool, Dispatch.POOL_IN_ORDER));
    private final List<RequestType<Item, Item>> requests = List.of(new RequestType<>(4, pool, responses),
            new RequestType<>(5, pool, responses, Dispatch.POOL),
            new RequestType<>(6, pool, responses, Dispatch.POOL_IN_ORDER));
    private final AtomicInteger early = new AtomicInteger();
    private final LinkedBlockingQueue<Throwable> told = new LinkedBlockingQueue<>();

    private NodeListener listener() {
        return new NodeListener() {
            @Override
            public void failed(Peer peer, int type, Throwable cause) {
                told.add(cause);
            }
        };
    }

    private void handle(Item item) {
        item.handledBy = Thread.currentThread();
        if (item.releases.get() != 0) {
            early.incrementAndGet();
        }
        switch (item.text) {
            case "exception" -> throw new IllegalStateException("the handler's");
            case "error" -> throw new AssertionError("the handler's");
            default -> { }
        }
    }

    private void assertReleasedByWhoHandledIt() {
        for (Item item : pool.given) {
            assertSame(item.handledBy, item.releasedBy, item.text);
        }
        assertEquals(0, early.get(), "given back before it was handled");
    }

    @ParameterizedTest
    @EnumSource
    void aMessageIsGivenBackWhenItsHandlerHasReturnedOrThrown(TestTransport transport) throws Exception {
        int rounds = 50;
        List<String> texts = List.of("fine", "exception", "error", "bad release");
        int count = types.size() * rounds * texts.size();
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2, builder -> builder.listener(listener()));
            Item sent = new Item("fine");
            for (MessageType<Item> type : types) {
                two.onMessage(type, (from, message) -> handle(message));
                for (int i = 0; i < rounds; i++) {
                    for (String text : texts) {
                        one.peer(2).send(type, new Item(text));
                    }
                }
                one.peer(2).send(type, sent);
            }
            pool.awaitAll(count + types.size());
            assertReleasedByWhoHandledIt();
            MessagesTest.await("all are told", () -> told.size() == types.size() * rounds * 3);
            // What was sent is the sender's.
            assertEquals(0, sent.releases.get());
        }
        pool.assertOnce();
    }

    @ParameterizedTest
    @EnumSource
    void aRequestIsGivenBackWhenItsHandlerHasReturnedAndAResponseIsTheRequesters(TestTransport transport) throws Exception {
        List<String> texts = List.of("fine", "exception", "error", "bad release", "no response", "later");
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.listener(listener()));
            Node two = nodes.start(2, builder -> builder.listener(listener()));
            var later = new LinkedBlockingQueue<Responder<Item>>();
            Item answer = new Item("answer");
            int count = 0;
            int answered = 0;
            for (RequestType<Item, Item> type : requests) {
                two.onRequest(type, (from, request, responder) -> {
                    handle(request);
                    switch (request.text) {
                        case "no response" -> { }
                        case "later" -> later.add(responder.detach());
                        default -> responder.respond(answer);
                    }
                });
                for (String text : texts) {
                    CompletableFuture<Item> response = one.peer(2).requestAsync(type, new Item(text), LONG);
                    pool.awaitAll(++count);
                    if (text.equals("later")) {
                        later.take().respond(answer);
                    }
                    if (text.equals("fine") || text.equals("later") || text.equals("bad release")) {
                        assertEquals("answer", response.get(10, TimeUnit.SECONDS).text);
                        answered++;
                    } else {
                        assertThrows(Exception.class, () -> response.get(10, TimeUnit.SECONDS));
                    }
                }
                assertEquals("answer", one.peer(2).request(type, new Item("fine"), LONG).text);
                var received = new LinkedBlockingQueue<Item>();
                one.peer(2).requestAsync(type, new Item("fine"), LONG, new ResponseHandler<>() {
                    @Override
                    public void onResponse(Item response) {
                        received.add(response);
                        throw new IllegalStateException("the callback's");
                    }

                    @Override
                    public void onFailure(MessagingException cause) {
                        throw new AssertionError(cause);
                    }
                });
                assertEquals("answer", received.take().text);
                count += 2;
                answered += 2;
                pool.awaitAll(count);
            }
            assertReleasedByWhoHandledIt();
            assertEquals(answered, responses.given.size());
            assertEquals(0, responses.releases());
            assertEquals(0, answer.releases.get());
        }
        pool.assertOnce();
        assertEquals(0, responses.releases());
    }

    /** The application has completed the future by itself, or has given it a time limit that is shorter. */
    @ParameterizedTest
    @EnumSource
    void aResponseThatNobodyTakesIsGivenBack(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.listener(listener()));
            Node two = nodes.start(2);
            var kept = new LinkedBlockingQueue<Responder<Item>>();
            two.onRequest(requests.getFirst(), (from, request, responder) -> kept.add(responder.detach()));
            CompletableFuture<Item> future = one.peer(2).requestAsync(requests.getFirst(), new Item("?"), LONG);
            Responder<Item> first = kept.take();
            assertTrue(future.completeExceptionally(new IllegalStateException("not needed")));
            first.respond(new Item("dropped"));
            responses.awaitAll(1);

            future = one.peer(2).requestAsync(requests.getFirst(), new Item("?"), LONG);
            Responder<Item> second = kept.take();
            assertTrue(future.complete(new Item("from elsewhere")));
            second.respond(new Item("bad release"));
            responses.awaitAll(2);
            MessagesTest.await("the pool's failure is told", () -> told.size() == 1);
            assertEquals("the pool's", told.take().getMessage());

            // One that has been cancelled is not even read.
            future = one.peer(2).requestAsync(requests.getFirst(), new Item("?"), LONG);
            Responder<Item> third = kept.take();
            assertTrue(future.cancel(true));
            third.respond(new Item("late"));
            MessagesTest.await("late", () -> one.metrics().responsesLate() == 1);
            assertEquals(2, responses.given.size());
            responses.assertOnce();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatNoHandlerGetsIsGivenBackToo(TestTransport transport) throws Exception {
        Codec<Item> hasty = new Codec<>() {
            @Override
            public int size(Item message) {
                return pool.size(message) + 1;
            }

            @Override
            public void write(Item message, Exporter out) {
                pool.write(message, out);
                out.putByte(1);
            }

            @Override
            public Item read(Importer in) {
                return pool.read(in);
            }

            @Override
            public void release(Item message) {
                pool.release(message);
            }
        };
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2, builder -> builder.listener(listener()).executor(task -> {
                throw new RejectedExecutionException("no threads");
            }));
            var half = new MessageType<>(7, hasty);
            var halfAsked = new RequestType<>(8, hasty, responses);
            var handled = new AtomicInteger();
            two.onMessage(half, (from, message) -> handled.incrementAndGet());
            two.onRequest(halfAsked, (from, request, responder) -> handled.incrementAndGet());
            for (MessageType<Item> type : types.subList(1, 3)) {
                two.onMessage(type, (from, message) -> handled.incrementAndGet());
                one.peer(2).send(type, new Item("x"));
            }
            for (RequestType<Item, Item> type : requests.subList(1, 3)) {
                two.onRequest(type, (from, request, responder) -> handled.incrementAndGet());
                assertThrows(MessagingException.RequestRefused.class,
                        () -> one.peer(2).request(type, new Item("x"), LONG));
            }
            one.peer(2).send(half, new Item("x"));
            assertThrows(MessagingException.RequestRefused.class, () -> one.peer(2).request(halfAsked, new Item("x"), LONG));
            pool.awaitAll(6);
            assertEquals(0, handled.get());
            MessagesTest.await("all are told", () -> told.size() == 6);
        }
        pool.assertOnce();
    }

    @ParameterizedTest
    @EnumSource
    void whatWaitsForThePoolWhileItsNodeClosesIsHandledAndGivenBack(TestTransport transport) throws Exception {
        int each = 100;
        int count = 2 * each;
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try (var nodes = new TestTransport.Nodes(transport)) {
            var go = new CountDownLatch(1);
            Node one = nodes.start(1);
            Node two = nodes.start(2, builder -> builder.executor(threads));
            for (MessageType<Item> type : types.subList(1, 3)) {
                two.onMessage(type, (from, message) -> {
                    go.await();
                    handle(message);
                });
            }
            for (int i = 0; i < each; i++) {
                one.peer(2).send(types.get(1), new Item("x"));
                one.peer(2).send(types.get(2), new Item("x"));
            }
            MessagesTest.await("all have come", () -> pool.given.size() == count);
            two.close();
            assertEquals(0, pool.releases());
            go.countDown();
            pool.awaitAll(count);
            assertReleasedByWhoHandledIt();
        } finally {
            threads.shutdown();
        }
        assertTrue(threads.awaitTermination(10, TimeUnit.SECONDS));
        pool.assertOnce();
    }
}
