// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.DefaultEventExecutorChooserFactory;
import io.netty.util.concurrent.RejectedExecutionHandler;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** An application bounds the queue of its loops, and there is no room in it at times. */
@Timeout(60)
class FullLoopTest {

    private static final int ROOM = 16;
    private static final long SECONDS = 20;
    private static final Duration LONG = Duration.ofSeconds(SECONDS);
    private static final MessageType<String> NEWS = new MessageType<>(1, StringCodec.INSTANCE);
    private static final MessageType<String> POOLED = new MessageType<>(3, StringCodec.INSTANCE, Dispatch.POOL);
    private static final RequestType<String, String> ASK =
            new RequestType<>(2, StringCodec.INSTANCE, StringCodec.INSTANCE);

    /** What becomes of a task for which there is none. */
    private enum Rejection {
        AS_NETTY_DOES {
            @Override
            RejectedExecutionHandler handler() {
                return RejectedExecutionHandlers.reject();
            }
        },
        BY_ANOTHER_EXCEPTION {
            @Override
            RejectedExecutionHandler handler() {
                return (task, loop) -> {
                    throw new IllegalStateException("overloaded");
                };
            }
        };

        abstract RejectedExecutionHandler handler();

        EventLoopGroup group() {
            return new UcxEventLoopGroup(1, (Executor) null, DefaultEventExecutorChooserFactory.INSTANCE,
                    DefaultSelectStrategyFactory.INSTANCE, handler(), ignored -> new ArrayBlockingQueue<>(ROOM));
        }
    }

    /** A loop that does something else, with a queue that is full. */
    private static final class Busy implements AutoCloseable {

        private final CountDownLatch end = new CountDownLatch(1);

        Busy(EventLoop loop) throws InterruptedException {
            CountDownLatch begun = new CountDownLatch(1);
            loop.execute(() -> {
                begun.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            begun.await();
            int added = 0;
            try {
                while (added <= ROOM) {
                    loop.execute(() -> { });
                    added++;
                }
            } catch (RuntimeException e) {
                assertTrue(added > 0, e::toString);
                return;
            }
            throw new AssertionError("there is room for " + added);
        }

        @Override
        public void close() {
            end.countDown();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMessageThatFindsItSoIsSentLater(Rejection rejection) throws Exception {
        EventLoopGroup group = rejection.group();
        try (var nodes = new TestTransport.Nodes(TestTransport.UCX)) {
            Node one = nodes.start(1,
                    builder -> builder.transport(group, UcxSocketChannel.class, UcxServerSocketChannel.class));
            CompletableFuture<String> came = new CompletableFuture<>();
            Node two = nodes.start(2);
            two.onMessage(NEWS, (from, message) -> came.complete(message));
            two.onRequest(ASK, (from, request, responder) -> responder.respond(request));
            assertEquals("x", one.peer(2).request(ASK, "x", LONG));
            try (var ignored = new Busy((EventLoop) one.timer())) {
                one.peer(2).send(NEWS, "news");
            }
            assertEquals("news", came.get(SECONDS, TimeUnit.SECONDS));
        } finally {
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aConnectionThatThePoolHadPausedIsReadAgain(Rejection rejection) throws Exception {
        EventLoopGroup group = rejection.group();
        try (ExecutorService pool = Executors.newSingleThreadExecutor();
             var nodes = new TestTransport.Nodes(TestTransport.UCX)) {
            Node one = nodes.start(1, builder -> builder.executor(pool)
                    .transport(group, UcxSocketChannel.class, UcxServerSocketChannel.class));
            CountDownLatch go = new CountDownLatch(1);
            AtomicInteger came = new AtomicInteger();
            one.onMessage(POOLED, (from, message) -> {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                came.incrementAndGet();
            });
            Node two = nodes.start(2);
            int messages = 10_000;
            for (int i = 0; i < messages; i++) {
                two.peer(1).send(POOLED, "news");
            }
            MessagesTest.await("the other one is connected", () -> !one.peer(2).connections().isEmpty());
            // It pauses, as the pool does nothing.
            Connection connection = one.peer(2).connections().getFirst();
            MessagesTest.await("reading pauses", () -> !connection.channel().config().isAutoRead());
            try (var ignored = new Busy((EventLoop) one.timer())) {
                go.countDown();
                MessagesTest.await("reading is to go on", () -> connection.channel().config().isAutoRead());
            }
            MessagesTest.await("all are handled", () -> came.get() == messages);
        } finally {
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        }
    }
}
