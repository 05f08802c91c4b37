// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import io.netty.util.concurrent.EventExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A node with more event loops than anybody has, in the memory of this process: these have no sockets, and are many. */
@Timeout(60)
@SuppressWarnings("deprecation") // of Netty 4.2
class ManyLoopsTest {

    private static final MessageType<String> TEXT = new MessageType<>(1, StringCodec.INSTANCE);
    private static final LocalAddress ADDRESS = new LocalAddress("many-loops");
    private static final int LOOPS = 600;
    private static final int LENGTH = 70 * 1024;

    private final FragmentsTest.Waiting codec = new FragmentsTest.Waiting();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final List<EventLoopGroup> groups = new ArrayList<>();

    @AfterEach
    void end() throws InterruptedException {
        codec.go.countDown();
        for (EventLoopGroup group : groups) {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).await();
        }
    }

    private NodeBuilder builder(int id, int loops) {
        EventLoopGroup group = new DefaultEventLoopGroup(loops);
        groups.add(group);
        return Node.builder(id).transport(group, LocalChannel.class, LocalServerChannel.class);
    }

    private void send(Peer peer, MessageType<Integer> type) {
        try {
            peer.send(type, LENGTH);
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        }
    }

    /** A receiver has a limit for messages in the middle, and would not go on with the connection. */
    @Test
    void threadsLeaveRoomForTheMessagesOfLoops() throws Exception {
        var type = new MessageType<>(3, codec);
        var received = new AtomicInteger();
        // Of which fewer may begin: with the messages of the loops they would be more than a receiver takes.
        int threads = 500;
        // It has room for the first frames of all.
        try (Node one = builder(1, LOOPS).ringCapacity(128 * 1024 * 1024).sendTimeout(Duration.ofMinutes(2))
                .directory(id -> ADDRESS).start();
                Node two = builder(2, 1).listen(ADDRESS).start()) {
            two.onMessage(type, (from, length) -> received.addAndGet(length));
            two.onMessage(TEXT, (from, text) -> {
            });
            Peer peer = one.peer(2);
            peer.send(TEXT, "connects");
            MessagesTest.await("the connection", () -> !peer.connections().isEmpty());
            EventLoop busy = peer.connections().getFirst().loop();
            for (EventExecutor loop : groups.getFirst()) {
                if (loop != busy) {
                    loop.execute(() -> send(peer, type));
                }
            }
            int ofLoops = LOOPS - 1;
            MessagesTest.await("each loop", () -> codec.begun.get() == ofLoops);
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                all.add(Thread.ofVirtual().start(() -> send(peer, type)));
            }
            MessagesTest.await("each has begun or waits",
                    () -> codec.begun.get() - ofLoops + peer.outgoing().ring().waiters().parked() == threads);
            assertEquals(Reassembly.MAX_MESSAGES - LOOPS, codec.begun.get() - ofLoops);
            codec.go.countDown();
            for (Thread thread : all) {
                thread.join();
            }
            int sum = (ofLoops + threads) * LENGTH;
            MessagesTest.await("all", () -> received.get() == sum || one.metrics().connectionsLost() > 0);
            assertEquals(0, one.metrics().connectionsLost());
            assertEquals(sum, received.get());
            assertEquals(0, one.metrics().undelivered());
            assertNull(failure.get());
        }
    }

    @Test
    void aGroupWithMoreLoopsThanAReceiverTakesMessagesIsRefused() {
        NodeBuilder builder = builder(1, Reassembly.MAX_MESSAGES);
        assertTrue(assertThrows(IllegalArgumentException.class, builder::start).getMessage().contains("1023"));
        assertThrows(IllegalArgumentException.class, () -> Node.builder(1).loops(Reassembly.MAX_MESSAGES));
    }
}
