// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** What is told of a message, while it is lost or acknowledged. */
@Timeout(60)
class DeliveriesTest {

    private static final int LOOKS = 1000;

    @Test
    void whatIsLostStaysLostThoughMoreIsAcknowledged() {
        var deliveries = new Deliveries();
        assertEquals(Peer.Delivery.PENDING, deliveries.of(0));
        deliveries.acknowledge(16);
        assertEquals(Peer.Delivery.DELIVERED, deliveries.of(0));
        assertEquals(Peer.Delivery.PENDING, deliveries.of(16));
        deliveries.lose(16, 48);
        deliveries.acknowledge(64);
        assertEquals(Peer.Delivery.DELIVERED, deliveries.of(0));
        assertEquals(Peer.Delivery.UNDELIVERED, deliveries.of(16));
        assertEquals(Peer.Delivery.UNDELIVERED, deliveries.of(40));
        assertEquals(Peer.Delivery.DELIVERED, deliveries.of(48));
        assertEquals(Peer.Delivery.PENDING, deliveries.of(64));
    }

    @Test
    void soManyLossesAreKnownAndNoMore() {
        var deliveries = new Deliveries();
        int known = 4096;
        for (int i = 0; i < known; i++) {
            deliveries.lose(32L * i, 32L * i + 16);
            deliveries.acknowledge(32L * i + 32);
        }
        assertEquals(Peer.Delivery.UNDELIVERED, deliveries.of(0));
        deliveries.lose(32L * known, 32L * known + 16);
        assertEquals(Peer.Delivery.DELIVERED, deliveries.of(0), "there is no bound");
        assertEquals(Peer.Delivery.UNDELIVERED, deliveries.of(32));
    }

    @Test
    void ofAMessageWithoutATicketNothingIsKnown() {
        var deliveries = new Deliveries();
        deliveries.acknowledge(64);
        assertEquals(Peer.Delivery.PENDING, deliveries.of(Peer.NO_TICKET));
    }

    /** One thread asks, the other one has it lost, and then acknowledges what was sent over the next connection. */
    @Test
    void nothingIsDeliveredForAMomentThatIsLost() throws InterruptedException {
        int rounds = 100_000;
        // Where both have but one processor, with others, a round can take as long as it takes to get that.
        int fewest = 500;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        var done = new AtomicBoolean();
        var current = new AtomicReference<>(new Deliveries());
        var wrong = new AtomicInteger();
        Thread asking = Thread.ofPlatform().start(() -> {
            while (!done.get()) {
                Deliveries deliveries = current.get();
                Peer.Delivery delivery;
                for (int looks = 0; (delivery = deliveries.of(0)) == Peer.Delivery.PENDING && !done.get(); looks++) {
                    lookAgain(looks);
                }
                if (delivery == Peer.Delivery.DELIVERED) {
                    wrong.incrementAndGet();
                }
                current.set(new Deliveries());
            }
        });
        Deliveries last = null;
        for (int i = 0; i < rounds && (i < fewest || System.nanoTime() - deadline < 0); i++) {
            Deliveries deliveries;
            for (int looks = 0; (deliveries = current.get()) == last; looks++) {
                lookAgain(looks);
            }
            deliveries.lose(0, 8);
            deliveries.acknowledge(16);
            last = deliveries;
        }
        done.set(true);
        asking.join();
        assertEquals(0, wrong.get());
    }

    private static void lookAgain(int looks) {
        if (looks < LOOKS) {
            Thread.onSpinWait();
        } else {
            // The other one may have no processor.
            Thread.yield();
        }
    }
}
