// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Requests end in time though they, or their responses, cannot be sent. */
@Timeout(60)
class UnsentTest {

    private static final RequestType<String, String> ASK =
            new RequestType<>(1, StringCodec.INSTANCE, StringCodec.INSTANCE);
    private static final RequestType<String, String> ASK_POOL =
            new RequestType<>(2, StringCodec.INSTANCE, StringCodec.INSTANCE, Dispatch.POOL);

    /** As codecs of other languages do: what it throws need not be declared. */
    private static final Codec<String> UNCHECKED = new Codec<>() {
        @Override
        public int size(String message) {
            return StringCodec.INSTANCE.size(message);
        }

        @Override
        public void write(String message, Exporter out) {
            if (message.equals("unwritable")) {
                PoolTest.rethrow(new IOException("it cannot be written"));
            }
            StringCodec.INSTANCE.write(message, out);
        }

        @Override
        public String read(Importer in) {
            String message = StringCodec.INSTANCE.read(in);
            if (message.equals("unreadable")) {
                PoolTest.rethrow(new IOException("it cannot be read"));
            }
            return message;
        }
    };

    /** Nothing makes room, and a thread would wait for it much longer. */
    @ParameterizedTest
    @EnumSource
    void aRequestThatFindsNoRoomTimesOutInItsOwnTime(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.ringCapacity(4096).reachTimeout(Duration.ofSeconds(40))
                    .closeTimeout(Duration.ofMillis(100)));
            Peer nobody = one.peer(2);
            var filler = new MessageType<>(9, StringCodec.INSTANCE);
            assertThrows(MessagingException.RingFull.class, () -> {
                for (int i = 0; i < 1000; i++) {
                    nobody.trySend(filler, "");
                }
            });
            for (String question : new String[] {"short", "in fragments".repeat(1000)}) {
                long begin = System.nanoTime();
                assertThrows(MessagingException.RequestTimeout.class,
                        () -> nobody.request(ASK, question, Duration.ofMillis(200)));
                CompletableFuture<String> future = nobody.requestAsync(ASK, question, Duration.ofMillis(200));
                assertInstanceOf(MessagingException.RequestTimeout.class,
                        assertThrows(CompletionException.class, future::join).getCause());
                var failures = new LinkedBlockingQueue<MessagingException>();
                Thread caller = Thread.currentThread();
                nobody.requestAsync(ASK, question, Duration.ofMillis(200), new ResponseHandler<>() {
                    @Override
                    public void onResponse(String response) {
                        throw new AssertionError(response);
                    }

                    @Override
                    public void onFailure(MessagingException cause) {
                        assertNotSame(caller, Thread.currentThread(), "told by the call that has sent the request");
                        failures.add(cause);
                    }
                });
                assertInstanceOf(MessagingException.RequestTimeout.class, failures.poll(10, TimeUnit.SECONDS));
                assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(15));
                assertEquals(0, failures.size());
            }
            assertEquals(6, one.metrics().requestsTimedOut());
        }
    }

    /** Its time has been over before its codec has thrown: that is told, and not both. */
    @ParameterizedTest
    @EnumSource
    void aRequestWhoseCodecThrowsTooLateEndsOnce(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            nodes.start(2);
            var told = new LinkedBlockingQueue<MessagingException>();
            Codec<String> late = new Codec<>() {
                @Override
                public int size(String message) {
                    return StringCodec.INSTANCE.size(message);
                }

                @Override
                public void write(String message, Exporter out) {
                    try {
                        // Until its time is over, and that has been told.
                        told.put(told.take());
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    throw new IllegalStateException("the codec's");
                }

                @Override
                public String read(Importer in) {
                    return StringCodec.INSTANCE.read(in);
                }
            };
            one.peer(2).requestAsync(new RequestType<>(10, late, StringCodec.INSTANCE), "x", Duration.ofMillis(20),
                    new ResponseHandler<>() {
                        @Override
                        public void onResponse(String response) {
                            throw new AssertionError(response);
                        }

                        @Override
                        public void onFailure(MessagingException cause) {
                            told.add(cause);
                        }
                    });
            assertEquals(1, told.size());
            assertInstanceOf(MessagingException.RequestTimeout.class, told.peek());
            assertEquals(1, one.metrics().unhandled());
        }
    }

    /** At once: not because the time of the request is over, which is told otherwise. */
    @ParameterizedTest
    @EnumSource
    void aResponseThatCannotBeSentIsRefusedAtOnce(TestTransport transport) throws Exception {
        var failing = new RequestType<>(8, StringCodec.INSTANCE, new Codec<String>() {
            @Override
            public int size(String message) {
                return 100;
            }

            @Override
            public void write(String message, Exporter out) {
                throw new IllegalStateException("the codec's");
            }

            @Override
            public String read(Importer in) {
                return in.getString();
            }
        });
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            Node two = nodes.start(2, builder -> builder.maxMessage(1000));
            var thrown = new LinkedBlockingQueue<RuntimeException>();
            RequestHandler<String, String> handler = (from, request, responder) -> {
                String response = "x".repeat(2000);
                if (request.equals("later")) {
                    Responder<String> later = responder.detach();
                    Thread.ofPlatform().start(() ->
                            thrown.add(assertThrows(RuntimeException.class, () -> later.respond(response))));
                } else {
                    // The handler does nothing about it.
                    thrown.add(assertThrows(RuntimeException.class, () -> responder.respond(response)));
                }
            };
            two.onRequest(ASK, handler);
            two.onRequest(ASK_POOL, handler);
            two.onRequest(failing, handler);
            for (String when : new String[] {"now", "later"}) {
                for (RequestType<String, String> type : List.of(ASK, ASK_POOL)) {
                    assertTrue(assertThrows(MessagingException.RequestRefused.class,
                            () -> one.peer(2).request(type, when, Duration.ofSeconds(20))).getMessage().contains("maxMessage"));
                }
                assertTrue(assertThrows(MessagingException.RequestRefused.class,
                        () -> one.peer(2).request(failing, when, Duration.ofSeconds(20))).getMessage().contains("the codec's"));
            }
            for (int i = 0; i < 2 * 3; i++) {
                assertNotNull(thrown.poll(10, TimeUnit.SECONDS), i + " of the answers have thrown");
            }
            // A reason that is too long itself is cut.
            two.onRequest(new RequestType<>(9, StringCodec.INSTANCE, StringCodec.INSTANCE),
                    (from, request, responder) -> responder.fail("because ".repeat(1000)));
            assertTrue(assertThrows(MessagingException.RequestRefused.class, () -> one.peer(2).request(
                    new RequestType<>(9, StringCodec.INSTANCE, StringCodec.INSTANCE), "", Duration.ofSeconds(20)))
                    .getMessage().startsWith("because because"));
        }
    }

    /** Somebody waits for the end of each. */
    @ParameterizedTest
    @EnumSource
    void whateverACodecThrowsTheRequestEnds(TestTransport transport) {
        var type = new RequestType<>(3, UNCHECKED, UNCHECKED);
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            nodes.start(2).onRequest(type, (from, request, responder) -> responder.respond(request.substring(4)));
            Map<String, String> reasons = Map.of("unreadable", "it cannot be read", "say unwritable", "it cannot be written",
                    "say unreadable", "the response cannot be read");
            reasons.forEach((question, reason) -> {
                CompletableFuture<String> future = one.peer(2).requestAsync(type, question, Duration.ofSeconds(40));
                MessagingException cause = assertInstanceOf(MessagingException.class, assertThrows(ExecutionException.class,
                        () -> future.get(10, TimeUnit.SECONDS), question).getCause());
                assertTrue(cause.getMessage().contains(reason), cause.getMessage());
                assertEquals(cause.getClass(), assertThrows(MessagingException.class,
                        () -> one.peer(2).request(type, question, Duration.ofSeconds(40))).getClass());
            });
        }
    }

    /** Of the reason there is less than it says. */
    @ParameterizedTest
    @EnumSource
    void aRefusalThatMakesNoSenseEndsTheRequest(TestTransport transport) {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1);
            var before = new FuturePending<String>(one, ASK.number());
            one.requests().add(before);
            nodes.start(2).onRequest(ASK, (from, request, responder) -> {
                responder.detach();
                from.answer(Frame.FAILURE, ASK.number(), before.correlation + 1, ByteBufCodec.INSTANCE,
                        Unpooled.wrappedBuffer(new byte[] {1}));
            });
            CompletableFuture<String> future = one.peer(2).requestAsync(ASK, "?", Duration.ofSeconds(40));
            assertTrue(assertInstanceOf(MessagingException.class, assertThrows(ExecutionException.class,
                    () -> future.get(10, TimeUnit.SECONDS)).getCause()).getMessage().contains("cannot be read"));
        }
    }
}
