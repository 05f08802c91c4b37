// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Nothing is read from a node of which too much waits for the pool; but that must not last for ever. */
@Timeout(60)
class PausedReadingTest {

    private static final MessageType<String> ORDERED = new MessageType<>(1, StringCodec.INSTANCE, Dispatch.POOL_IN_ORDER);
    private static final RequestType<String, String> ASK_LOOP =
            new RequestType<>(2, StringCodec.INSTANCE, StringCodec.INSTANCE);

    /**
     * Handlers of both nodes wait for room for their responses, which only comes when the other node reads. The more requests
     * wait for the pools the less either node would read.
     */
    @ParameterizedTest
    @EnumSource
    void poolsThatAnswerEachOtherDoNotWaitForEachOther(TestTransport transport) throws Exception {
        int requests = 10_000;
        var type = new RequestType<>(7, StringCodec.INSTANCE, ByteBufCodec.INSTANCE, Dispatch.POOL);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        ByteBuf response = Unpooled.directBuffer().writeZero(64 * 1024);
        try (var nodes = new TestTransport.Nodes(transport)) {
            var failure = new AtomicReference<Throwable>();
            var done = new CountDownLatch(2 * requests);
            List<Node> both = new ArrayList<>();
            for (int id = 1; id <= 2; id++) {
                ExecutorService own = threads;
                both.add(nodes.start(id, builder -> builder.executor(own).closeTimeout(Duration.ofMillis(500))));
            }
            List<Thread> askers = new ArrayList<>();
            for (Node node : both) {
                node.onRequest(type, (from, request, responder) -> responder.respond(response.duplicate()));
                askers.add(Thread.ofPlatform().start(() -> {
                    try {
                        for (int i = 0; i < requests; i++) {
                            node.peer(3 - node.id()).requestAsync(type, "?", Duration.ofSeconds(50), new ResponseHandler<>() {
                                @Override
                                public void onResponse(ByteBuf bytes) {
                                    bytes.release();
                                    done.countDown();
                                }

                                @Override
                                public void onFailure(MessagingException cause) {
                                    failure.compareAndSet(null, cause);
                                    done.countDown();
                                }
                            });
                        }
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                    }
                }));
            }
            for (long missing = done.getCount(); !done.await(20, TimeUnit.SECONDS); missing = done.getCount()) {
                assertTrue(done.getCount() < missing, () -> done.getCount() + " of " + 2 * requests + " are missing");
            }
            for (Thread asker : askers) {
                asker.join();
            }
            assertNull(failure.get());
        } finally {
            threads.shutdownNow();
            response.release();
        }
    }

    /** A handler that waits for a response of a node must not keep that response from being read. */
    @ParameterizedTest
    @EnumSource
    void aHandlerGetsAResponseThoughManyMessagesWait(TestTransport transport) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (var nodes = new TestTransport.Nodes(transport)) {
            var answers = new LinkedBlockingQueue<Object>();
            var handled = new AtomicInteger();
            var go = new CountDownLatch(1);
            Node one = nodes.start(1);
            Node two = nodes.start(2, builder -> builder.executor(threads));
            one.onRequest(ASK_LOOP, (from, request, responder) -> responder.respond(request + "!"));
            two.onMessage(ORDERED, (from, message) -> {
                if (message.equals("ask")) {
                    go.await();
                    try {
                        answers.add(from.request(ASK_LOOP, "?", Duration.ofSeconds(20)));
                    } catch (MessagingException e) {
                        answers.add(e);
                    }
                }
                handled.incrementAndGet();
            });
            int messages = 3 * Inbox.LIMIT;
            one.peer(2).send(ORDERED, "ask");
            // What is not read fills the channel: the response comes behind it.
            for (int i = 0; i < messages; i++) {
                one.peer(2).send(ORDERED, "x".repeat(1000));
                if (i == Inbox.LIMIT) {
                    go.countDown();
                }
            }
            assertEquals("?!", answers.poll(15, TimeUnit.SECONDS));
            MessagesTest.await("all", () -> handled.get() == messages + 1);
        } finally {
            threads.shutdownNow();
        }
    }
}
