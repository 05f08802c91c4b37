// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.EventLoop;

/** Messages and requests to one peer that are lost, and who is told of them. */
final class Losses {

    /**
     * What is told when the peer's lock is free again: an application that is told may wait for another thread of its own, which
     * asks the peer.
     */
    record Loss(long from, long to, Throwable cause, boolean requestsToo) {
    }

    private final Peer peer;
    private final Node node;
    private final EventLoop home;
    private final Deliveries deliveries;
    private final Asking asking;
    /** Of {@link #home}. */
    private boolean telling;

    /** @param home the peer's own loop */
    Losses(Peer peer, Node node, EventLoop home, Deliveries deliveries, Asking asking) {
        this.peer = peer;
        this.node = node;
        this.home = home;
        this.deliveries = deliveries;
        this.asking = asking;
    }

    /** With the peer's lock. */
    Loss lose(long from, long to, Throwable cause, boolean requestsToo) {
        if (from < to) {
            deliveries.lose(from, to);
        }
        if (requestsToo) {
            asking.lost(to);
        }
        return new Loss(from, to, cause, requestsToo);
    }

    /** Whether an application is told of a loss at the moment, on the peer's own loop, which asks. */
    boolean areTold() {
        return telling;
    }

    /** On an event loop. */
    void tell(Loss loss) {
        if (!home.inEventLoop()) {
            tellNow(loss);
            return;
        }
        telling = true;
        try {
            tellNow(loss);
        } finally {
            telling = false;
        }
    }

    private void tellNow(Loss loss) {
        if (loss.from < loss.to) {
            node.counters().undelivered.increment();
            node.told(listener -> listener.undelivered(peer, loss.from, loss.to, loss.cause));
        }
        if (loss.requestsToo) {
            node.requests().fail(peer, loss.to, loss.cause instanceof MessagingException lost ? lost
                    : new MessagingException.NodeLost("the connection to node " + peer.id() + " was lost", loss.cause));
        }
    }
}
