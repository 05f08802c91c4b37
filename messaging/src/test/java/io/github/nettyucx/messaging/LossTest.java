// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Who is told of a loss may do something about it. */
@Timeout(60)
class LossTest {

    private static final MessageType<String> TEXT = new MessageType<>(1, StringCodec.INSTANCE);
    private static final RequestType<String, String> ASK =
            new RequestType<>(2, StringCodec.INSTANCE, StringCodec.INSTANCE);
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int AGAIN = 1000;

    /** As an application does that has a lock, and calls with it from other threads. */
    @ParameterizedTest
    @EnumSource
    void anotherThreadMayAskThePeerMeanwhile(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            var ofMessage = new CompletableFuture<Peer.Delivery>();
            var ofRequest = new CompletableFuture<Peer.Delivery>();
            Node one = nodes.start(1, builder -> builder.reachTimeout(SHORT).listener(new NodeListener() {
                @Override
                public void undelivered(Peer peer, long from, long to, Throwable cause) {
                    ofMessage.completeAsync(() -> peer.delivery(from));
                    ofMessage.orTimeout(10, TimeUnit.SECONDS).join();
                }
            }));
            Peer nobody = one.peer(2);
            long ticket = nobody.send(TEXT, "x");
            assertEquals(Peer.Delivery.UNDELIVERED, ofMessage.get(20, TimeUnit.SECONDS));
            nobody.requestAsync(ASK, "x", LONG).whenComplete((response, cause) -> {
                ofRequest.completeAsync(() -> nobody.delivery(ticket));
                ofRequest.orTimeout(10, TimeUnit.SECONDS).join();
            });
            assertEquals(Peer.Delivery.UNDELIVERED, ofRequest.get(20, TimeUnit.SECONDS));
        }
    }

    /** The node cannot be reached, and so that is told of as well. */
    @ParameterizedTest
    @EnumSource
    void whatIsLostMayBeSentAgainAtOnce(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            var told = new AtomicInteger();
            var deepest = new AtomicInteger();
            Node one = nodes.start(1, builder -> builder.reachTimeout(SHORT).listener(new NodeListener() {
                private int depth;

                @Override
                public void undelivered(Peer peer, long from, long to, Throwable cause) {
                    depth++;
                    deepest.accumulateAndGet(depth, Math::max);
                    // It need not become so deep that the stack does not suffice.
                    if (told.incrementAndGet() < AGAIN && depth < 100) {
                        peer.send(TEXT, "again");
                    }
                    depth--;
                }
            }));
            one.peer(2).send(TEXT, "x");
            MessagesTest.await("told of all", () -> told.get() == AGAIN || deepest.get() == 100);
            assertEquals(1, deepest.get(), "told of a message before it had returned that it was told of before");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aDirectoryThatFailsIsToldOfLikeANodeThatIsNotThere(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, builder -> builder.reachTimeout(Duration.ofSeconds(5)).directory(id -> {
                throw new NoClassDefFoundError("a/Directory");
            }));
            long ticket = one.peer(2).send(TEXT, "x");
            CompletableFuture<String> future = one.peer(2).requestAsync(ASK, "x", Duration.ofSeconds(10));
            MessagingException.NodeLost lost = assertInstanceOf(MessagingException.NodeLost.class,
                    assertThrows(CompletionException.class, future::join).getCause());
            assertTrue(lost.getMessage().contains("a/Directory"), lost.getMessage());
            assertEquals(Peer.Delivery.UNDELIVERED, one.peer(2).delivery(ticket));
        }
    }
}
