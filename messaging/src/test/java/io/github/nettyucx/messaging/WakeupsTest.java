// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.github.nettyucx.channel.UcxEventLoop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** How often a node wakes its loop, flushes and sends: for all that is there, and not for each message. */
@Timeout(60)
class WakeupsTest {

    private static final MessageType<ByteBuf> BYTES = new MessageType<>(1, ByteBufCodec.INSTANCE);
    private static final MessageType<ByteBuf> ANSWER = new MessageType<>(2, ByteBufCodec.INSTANCE);
    private static final int THREADS = 4;
    private static final int EACH = 250;
    private static final int COUNT = THREADS * EACH;

    private final AtomicReference<Channel> client = new AtomicReference<>();
    private final AtomicInteger received = new AtomicInteger();

    /** Two nodes, of which the first has sent a message and has nothing to do. */
    private Peer connect(Node one, Node two) throws InterruptedException {
        two.onMessage(BYTES, (from, message) -> received.incrementAndGet());
        long first = one.peer(2).send(BYTES, Unpooled.EMPTY_BUFFER);
        MessagesTest.await("connected", () -> one.peer(2).delivery(first) == Peer.Delivery.DELIVERED);
        received.set(0);
        return one.peer(2);
    }

    private NodeBuilder watched(NodeBuilder builder) {
        return builder.ringCapacity(4 * 1024 * 1024).handlers(client::set, server -> { });
    }

    /** Keeps a loop busy until it is told to go on. */
    private static CountDownLatch hold(EventLoop loop) throws InterruptedException {
        var entered = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        loop.execute(() -> {
            entered.countDown();
            try {
                assertTrue(go.await(20, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        assertTrue(entered.await(20, TimeUnit.SECONDS));
        return go;
    }

    private long messagesOfTheTransport() {
        return ((UcxEventLoop) client.get().eventLoop()).metrics().traffic().messagesSent();
    }

    @ParameterizedTest
    @EnumSource
    void whatManyThreadsCommitWhileTheLoopIsBusyGoesOutInOneSend(TestTransport transport) throws Exception {
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, this::watched);
            Peer peer = connect(one, nodes.start(2));
            boolean isCounted = transport == TestTransport.UCX;
            long sentBefore = isCounted ? messagesOfTheTransport() : 0;
            CountDownLatch go = hold(client.get().eventLoop());
            NodeMetrics before = one.metrics();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int j = 0; j < EACH; j++) {
                        peer.send(BYTES, Unpooled.wrappedBuffer(new byte[16]));
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            NodeMetrics committed = one.metrics();
            assertEquals(1, committed.wakeups() - before.wakeups(), "wake-ups");
            assertEquals(0, committed.framesSent() - before.framesSent(), "messages that were sent while the loop was busy");
            go.countDown();
            MessagesTest.await("all", () -> received.get() == COUNT);
            NodeMetrics after = one.metrics();
            assertEquals(COUNT, after.framesSent() - before.framesSent());
            assertEquals(1, after.flushes() - before.flushes(), "flushes");
            assertEquals(1, after.wakeups() - before.wakeups(), "wake-ups");
            if (isCounted) {
                // A message may be counted by its sender a moment after it has been read.
                MessagesTest.await("it is counted", () -> messagesOfTheTransport() > sentBefore);
                assertEquals(1, messagesOfTheTransport() - sentBefore, "messages of the transport");
            }
        }
    }

    /** Others of the loop have their turn after half a MiB. A span has six of these messages, and a turn nine spans. */
    @ParameterizedTest
    @EnumSource
    void whatIsMoreThanATurnTakesGoesOutInAsFewTurnsAsItFillsAndWakesNobody(TestTransport transport) throws Exception {
        int size = 10_000;
        int count = 100;
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, this::watched);
            Peer peer = connect(one, nodes.start(2));
            CountDownLatch go = hold(client.get().eventLoop());
            NodeMetrics before = one.metrics();
            for (int i = 0; i < count; i++) {
                peer.send(BYTES, Unpooled.wrappedBuffer(new byte[size]));
            }
            go.countDown();
            MessagesTest.await("all", () -> received.get() == count);
            NodeMetrics after = one.metrics();
            assertEquals(count, after.framesSent() - before.framesSent());
            assertEquals(2, after.flushes() - before.flushes(), "flushes");
            assertEquals(1, after.wakeups() - before.wakeups(), "wake-ups");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aLoopThatHasNothingToDoIsWokenForEachMessageOnce(TestTransport transport) throws Exception {
        int count = 20;
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, this::watched);
            Peer peer = connect(one, nodes.start(2));
            NodeMetrics before = one.metrics();
            for (int i = 0; i < count; i++) {
                long ticket = peer.send(BYTES, Unpooled.EMPTY_BUFFER);
                MessagesTest.await("acknowledged", () -> peer.delivery(ticket) == Peer.Delivery.DELIVERED);
            }
            NodeMetrics after = one.metrics();
            assertEquals(count, after.wakeups() - before.wakeups(), "wake-ups");
            assertEquals(count, after.flushes() - before.flushes(), "flushes");
        }
    }

    /** What handlers send goes out when the reading is over. */
    @ParameterizedTest
    @EnumSource
    void whatHandlersAnswerInOneTurnGoesOutInOneFlush(TestTransport transport) throws Exception {
        var answers = new AtomicInteger();
        var turns = new AtomicInteger();
        var isNew = new boolean[] {true};
        try (var nodes = new TestTransport.Nodes(transport)) {
            Node one = nodes.start(1, this::watched);
            one.onMessage(ANSWER, (from, message) -> answers.incrementAndGet());
            Node two = nodes.start(2, builder -> builder.handlers(dialed -> { }, accepted -> accepted.pipeline().addLast(
                    new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelReadComplete(ChannelHandlerContext context) {
                            isNew[0] = true;
                            context.fireChannelReadComplete();
                        }
                    })));
            var question = new MessageType<>(3, ByteBufCodec.INSTANCE);
            two.onMessage(question, (from, message) -> {
                if (isNew[0]) {
                    isNew[0] = false;
                    turns.incrementAndGet();
                }
                from.send(ANSWER, message);
            });
            Peer peer = connect(one, two);
            NodeMetrics before = two.metrics();
            CountDownLatch go = hold(client.get().eventLoop());
            for (int i = 0; i < COUNT; i++) {
                peer.send(question, Unpooled.EMPTY_BUFFER);
            }
            go.countDown();
            MessagesTest.await("all", () -> answers.get() == COUNT);
            NodeMetrics after = two.metrics();
            assertEquals(COUNT, after.framesSent() - before.framesSent());
            assertEquals(turns.get(), after.flushes() - before.flushes(), "flushes");
            assertEquals(0, after.wakeups() - before.wakeups(), "wake-ups");
            assertTrue(turns.get() <= COUNT / 10, () -> "the test had a turn for each message: " + turns);
        }
    }
}
