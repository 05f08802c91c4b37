// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A loop that naps, see {@link WakeModeration}, with all that belongs to it. */
@Timeout(120)
class NapTest {

    private static final MessageType<ByteBuf> BYTES = new MessageType<>(1, ByteBufCodec.INSTANCE);
    /** It looks some times, 50 µs apart, and then sleeps. The test's thread may not have a processor in that time. */
    private static final int NAPS = 11;
    private static final long TRYING_SECONDS = 60;

    /** Naps from its next message on, as if it had been woken for each before. */
    private static void makeDrowsy(Connection connection) throws Exception {
        connection.loop().submit(() -> {
            for (int i = 0; i < 2 * WakeModeration.LAST_PATIENCE && !connection.moderation().naps(1, 16, true); i++) {
                // Until it naps.
            }
        }).get();
    }

    /** In one frame, and in parts. */
    @ParameterizedTest
    @ValueSource(ints = {0, 100 * 1024})
    void whatIsSentToALoopThatNapsArrivesAlthoughItWakesNobodyAndThenTheLoopSleeps(int bytes) throws Exception {
        ByteBuf message = Unpooled.wrappedBuffer(new byte[bytes]);
        var received = new AtomicInteger();
        try (var nodes = new TestTransport.Nodes(TestTransport.UCX)) {
            Node one = nodes.start(1);
            nodes.start(2).onMessage(BYTES, (from, arrived) -> received.incrementAndGet());
            Peer peer = one.peer(2);
            Ring ring = peer.outgoing().ring();
            peer.send(BYTES, message);
            MessagesTest.await("connected", () -> received.get() == 1);
            int sent = 1;
            int slept = 0;
            int tries = 0;
            for (long start = System.nanoTime(); slept < NAPS
                    && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(TRYING_SECONDS); tries++) {
                makeDrowsy(peer.connections().getFirst());
                peer.send(BYTES, message);
                sent++;
                long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100);
                while (!ring.naps() && System.nanoTime() < end) {
                    Thread.onSpinWait();
                }
                long before = one.metrics().wakeups();
                boolean naps = ring.naps();
                peer.send(BYTES, message);
                sent++;
                slept += naps && one.metrics().wakeups() == before ? 1 : 0;
                int all = sent;
                MessagesTest.await("all messages", () -> received.get() == all);
                MessagesTest.await("the nap ends", () -> !ring.naps());
            }
            System.out.println("Messages of " + bytes + " bytes that came to a loop that napped, and woke nobody: " + slept + " of " + tries);
            assertEquals(NAPS, slept, "it does not nap");
        }
    }

    /** It is awake, and has more to do: nothing is to wait for a look. */
    @Test
    void whatTheLoopsOwnHandlersSendDoesNotWaitForANap() throws Exception {
        try (var nodes = new TestTransport.Nodes(TestTransport.UCX)) {
            Node one = nodes.start(1);
            var received = new AtomicInteger();
            nodes.start(2).onMessage(BYTES, (from, message) -> received.incrementAndGet());
            Peer peer = one.peer(2);
            peer.send(BYTES, Unpooled.EMPTY_BUFFER);
            MessagesTest.await("connected", () -> received.get() == 1);
            Connection connection = peer.connections().getFirst();
            makeDrowsy(connection);
            connection.loop().submit(() -> {
                Ring ring = peer.outgoing().ring();
                assertTrue(ring.nap(WakeModeration.NAP_BYTES));
                assertTrue(connection.moderation().naps(1, 16));
                connection.turn().begin();
                peer.send(BYTES, Unpooled.EMPTY_BUFFER);
                connection.turn().end();
                assertTrue(peer.outgoing().isEmpty());
                assertFalse(ring.naps());
                assertFalse(connection.moderation().looks());
            }).get();
            MessagesTest.await("arrived", () -> received.get() == 2);
        }
    }

    /** Its end may take seconds, and the loop would look every 50 µs until then. */
    @Test
    void aConnectionThatIsBeingClosedIsNotLookedAt() throws Exception {
        try (var nodes = new TestTransport.Nodes(TestTransport.UCX)) {
            Node one = nodes.start(1);
            var received = new AtomicInteger();
            nodes.start(2).onMessage(BYTES, (from, message) -> received.incrementAndGet());
            Peer peer = one.peer(2);
            peer.send(BYTES, Unpooled.EMPTY_BUFFER);
            MessagesTest.await("connected", () -> received.get() == 1);
            Connection connection = peer.connections().getFirst();
            makeDrowsy(connection);
            connection.loop().submit(() -> {
                assertTrue(connection.moderation().naps(1, 16));
                assertTrue(connection.moderation().looks());
                connection.leave();
                assertFalse(connection.moderation().looks());
            }).get();
        }
    }
}
