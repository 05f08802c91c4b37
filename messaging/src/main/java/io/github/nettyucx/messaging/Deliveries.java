// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.atomic.AtomicLong;

/** What is known of the messages to one peer, by their tickets. Any thread may call. */
final class Deliveries {

    private final AtomicLong acknowledged = new AtomicLong();
    /** With this object's lock. */
    private final TicketRanges undelivered = new TicketRanges();

    /** All that was sent before that position has arrived, but for what is lost. */
    void acknowledge(long position) {
        acknowledged.accumulateAndGet(position, Math::max);
    }

    /** What lies between these positions is lost. What is sent later must not be acknowledged before. */
    synchronized void lose(long from, long to) {
        undelivered.add(from, to);
    }

    synchronized boolean isLost(long ticket) {
        return undelivered.contains(ticket);
    }

    /** Up to where the peer has acknowledged what was sent. */
    long acknowledged() {
        return acknowledged.get();
    }

    Peer.Delivery of(long ticket) {
        if (ticket < 0) {
            // Nobody knows which message it is.
            return Peer.Delivery.PENDING;
        }
        // In this order. What was lost is known before anything behind it is acknowledged.
        long seen = acknowledged.get();
        return isLost(ticket) ? Peer.Delivery.UNDELIVERED : ticket < seen ? Peer.Delivery.DELIVERED : Peer.Delivery.PENDING;
    }
}
