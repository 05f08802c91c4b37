// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Loops that open a connection at the same time have another one closed each, and not both the same one. */
@Timeout(60)
class MaxConnectionsTest {

    private static final int LIMIT = 300;
    private static final int ROUNDS = 3_000;

    /** A connection without a network, of which any thread may be the loop. */
    private static final class Opening {

        private final Connection connection;
        private final EmbeddedChannel channel;
        private final ByteBuf hello;

        /** Its channel takes long to end. */
        private boolean lingers;

        Opening(Node node, int from) {
            connection = new Connection(node, null);
            channel = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
                @Override
                public void close(ChannelHandlerContext context, ChannelPromise promise) {
                    if (!lingers) {
                        context.close(promise);
                    }
                }
            }, connection);
            hello = new Hello(from, node.id(), 1).encode(UnpooledByteBufAllocator.DEFAULT);
            // The node makes one after the other.
            node.peer(from);
        }

        void open() {
            channel.writeInbound(hello);
        }

        void close() {
            channel.finishAndReleaseAll();
            channel.runPendingTasks();
        }
    }

    @Test
    void theLimitIsKeptThoughTwoAreOpenedAtTheSameTime() throws Exception {
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO)) {
            Node node = nodes.start(1, builder -> builder.maxConnections(LIMIT).ringCapacity(4096));
            var other = new Opening[1];
            var barrier = new CyclicBarrier(2);
            var arrived = new AtomicInteger();
            Thread thread = Thread.ofPlatform().daemon().start(() -> {
                try {
                    for (int round = 0; round < ROUNDS; round++) {
                        barrier.await(20, TimeUnit.SECONDS);
                        open(other[0], arrived, 2 * round + 2);
                        barrier.await(20, TimeUnit.SECONDS);
                    }
                } catch (Exception e) {
                    // The test's own thread waits in vain, and says so.
                    throw new IllegalStateException(e);
                }
            });
            List<Opening> all = new ArrayList<>();
            int id = 2;
            while (all.size() < LIMIT) {
                all.add(new Opening(node, id++));
                all.getLast().open();
            }
            for (int round = 0; round < ROUNDS; round++) {
                // Nobody that was there before: what is left of it is done by other threads.
                var own = new Opening(node, id++);
                other[0] = new Opening(node, id++);
                all.add(own);
                all.add(other[0]);
                barrier.await(20, TimeUnit.SECONDS);
                open(own, arrived, 2 * round + 2);
                barrier.await(20, TimeUnit.SECONDS);
                all.stream().filter(opening -> opening.connection.isLeaving()).forEach(Opening::close);
                all.removeIf(opening -> opening.connection.isLeaving());
                assertEquals(LIMIT, all.size());
            }
            thread.join();
            all.forEach(Opening::close);
        }
    }

    /** It is about to end, and what is sent goes over another one. */
    @Test
    void oneThatHasFailedCostsNoOther() {
        try (var nodes = new TestTransport.Nodes(TestTransport.NIO)) {
            Node node = nodes.start(1, builder -> builder.maxConnections(2).ringCapacity(4096));
            List<Opening> all = new ArrayList<>();
            for (int id = 2; id < 4; id++) {
                all.add(new Opening(node, id));
                all.getLast().open();
            }
            Opening failed = all.getFirst();
            failed.lingers = true;
            failed.connection.fail(new MessagingException("for a test"));
            all.add(new Opening(node, 4));
            all.getLast().open();
            assertEquals(3, node.metrics().connections());
            assertTrue(all.stream().noneMatch(opening -> opening.connection.isLeaving()));
            // It is one too many now, and the one that is older goes.
            all.add(new Opening(node, 5));
            all.getLast().open();
            assertEquals(List.of(all.get(1)), all.stream().filter(opening -> opening.connection.isLeaving()).toList());
            failed.lingers = false;
            all.forEach(Opening::close);
            assertEquals(0, node.metrics().connections());
        }
    }

    /** When the other one does: a barrier alone lets one go first. */
    private static void open(Opening opening, AtomicInteger arrived, int both) {
        arrived.incrementAndGet();
        for (int looks = 0; arrived.get() < both; looks++) {
            if (looks < 10_000) {
                Thread.onSpinWait();
            } else {
                // The other one may have no processor but this.
                Thread.yield();
            }
        }
        opening.open();
    }
}
