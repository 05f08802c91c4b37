// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.EventLoop;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Requests to one peer, as those see it who send them. Any thread may call. */
final class Asking {

    /**
     * So long after a connection has ended there is another one for answers. Nodes that wait for a peer with too few
     * connections take them from one another, but not all the time.
     */
    private static final long AGAIN_MILLIS = 200;

    private final Peer peer;
    private final Node node;
    /** The peer's own. Where failures are told of requests for which nobody waits. */
    private final EventLoop home;
    /** Requests with a smaller ticket ended when a connection was lost. */
    private volatile long lostBelow;

    // Of the loop.
    private boolean isLater;
    private boolean isNow;

    Asking(Peer peer, Node node, EventLoop home) {
        this.peer = peer;
        this.node = node;
        this.home = home;
    }

    /** Sends one and waits for its answer. */
    @SuppressWarnings("unchecked")
    <Q, R> R request(RequestType<Q, R> type, Q request, Duration timeout) {
        if (node.isLoop()) {
            throw new IllegalStateException("an event loop must not wait for a response; use requestAsync");
        }
        Outbox outbox = Outbox.begin();
        Waiter waiter = outbox.waiter;
        boolean reusable = false;
        try {
            waiter.begin();
            register(waiter, type, timeout, false);
            send(outbox, waiter, type, request);
            if (!waiter.await(node.settings().requestSpinNanos())) {
                if (node.requests().take(waiter.correlation) != null) {
                    reusable = true;
                    if (Thread.currentThread().isInterrupted()) {
                        node.counters().cancelled.increment();
                        throw new MessagingException("interrupted while it waited for a response of " + peer);
                    }
                    throw node.requests().timeout(waiter);
                }
                waiter.awaitFinish();
            }
            reusable = true;
            return (R) waiter.result();
        } finally {
            if (reusable) {
                waiter.end();
            } else {
                outbox.replaceWaiter();
            }
            outbox.end();
        }
    }

    /** Sends one whose answer nobody waits for. */
    <Q, R> void begin(Pending pending, RequestType<Q, R> type, Q request, Duration timeout) {
        Outbox outbox = Outbox.begin();
        try {
            register(pending, type, timeout, true);
            send(outbox, pending, type, request);
        } finally {
            outbox.end();
        }
    }

    private void register(Pending pending, RequestType<?, ?> type, Duration timeout, boolean timed) {
        long nanos = NodeBuilder.nanos(timeout);
        if (nanos <= 0) {
            throw new IllegalArgumentException("timeout of a request: " + timeout + " (expected: more than 0)");
        }
        pending.peer = peer;
        pending.codec = type.response();
        pending.deadlineNanos = System.nanoTime() + nanos;
        pending.isTimed = timed;
        node.requests().add(pending);
    }

    private <Q> void send(Outbox outbox, Pending pending, RequestType<Q, ?> type, Q request) {
        long correlation = pending.correlation;
        long before = peer.outgoing().ring().tail();
        try {
            long ticket = peer.outgoing().put(outbox, Frame.REQUEST, type.number(), correlation, type.request(), request,
                    true, pending);
            // What waits beside the ring may have been moved into it by now, and be lost: it lies behind where that ended before.
            long position = ticket == Peer.NO_TICKET ? before : ticket;
            // Somebody else may have answered it and use it again by now; then nobody looks at it.
            if (pending.correlation == correlation) {
                pending.ticket = position;
                if (position < lostBelow && node.requests().take(correlation) == pending) {
                    node.counters().requestFailed.increment();
                    fail(pending, new MessagingException.NodeLost("the connection to " + peer + " was lost", null));
                }
            }
        } catch (MessagingException.RequestTimeout e) {
            if (node.requests().take(correlation) == pending) {
                node.counters().timedOut.increment();
                fail(pending, e);
            }
        } catch (Throwable t) {
            boolean ended = node.requests().take(correlation) != pending;
            // Nobody is told twice: what a codec has thrown too late is told to those who look after such things.
            if (!ended || !pending.isTimed) {
                throw t;
            }
            if (!(t instanceof MessagingException)) {
                node.handlers().unhandled(peer, type.number(), t);
            }
        }
    }

    /** Who does not wait for the answer is told on an event loop, and not by the call that has sent the request. */
    private void fail(Pending pending, MessagingException cause) {
        if (pending.isTimed) {
            try {
                home.execute(() -> pending.fail(cause));
                return;
            } catch (RuntimeException e) {
                // There is no loop any more, or it has no room.
            }
        }
        pending.fail(cause);
    }

    /**
     * Whether a connection is needed though there is nothing to send: for an answer of a peer that cannot make one. On the
     * peer's own loop, while there is none; if it is not needed yet, the peer is {@linkplain Peer#drain() told} later.
     */
    boolean needsConnection() {
        if (node.address() != null || peer.isClosing() || !node.requests().isOpen(peer)) {
            return false;
        }
        if (!isNow && !isLater) {
            isLater = true;
            home.schedule(this::connectNow, AGAIN_MILLIS, TimeUnit.MILLISECONDS);
        }
        return isNow;
    }

    private void connectNow() {
        isLater = false;
        isNow = true;
        try {
            peer.drain();
        } finally {
            isNow = false;
        }
    }

    /** Those with smaller tickets have ended. With the peer's lock. */
    void lost(long ticket) {
        lostBelow = Math.max(lostBelow, ticket);
    }
}
