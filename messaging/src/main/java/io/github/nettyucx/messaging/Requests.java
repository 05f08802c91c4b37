// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * The requests of a node that have not been answered, by their correlations: numbers that are not used again, whose low bits
 * say where the request is kept. Any thread may call.
 */
final class Requests {

    /**
     * Time-outs are exact to 10 ms. From one look at the deadlines to the next it may be so long; the rest is for a loop that has
     * other things to do, and wakes late.
     */
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Instead of a correlation: nobody has the slot, or somebody is about to fill or empty it. */
    private static final long FREE = 0;
    private static final long CHANGING = -1;

    private final Node node;
    /** Who sets a slot's correlation from what it was to {@link #CHANGING} has the slot; correlations do not come again. */
    private final AtomicLongArray correlations;
    private final AtomicReferenceArray<Pending> pending;
    private final int mask;
    /**
     * It begins anywhere: a node that has been started again may get answers to what the one before has asked. They must not be
     * taken for its own.
     */
    private final long first = ThreadLocalRandom.current().nextLong(1, 1L << 62);
    private final AtomicLong next = new AtomicLong(first);
    /** Numbers that no request has, because their slots were taken. */
    private final LongAdder skipped = new LongAdder();
    /** As it was told last. */
    private final AtomicLong begun = new AtomicLong();
    /** Whether somebody is going to look at deadlines. */
    private final AtomicBoolean watched = new AtomicBoolean();
    private final Runnable watch = this::watch;

    /** @param capacity how many there may be at the same time: a power of two */
    Requests(Node node, int capacity) {
        this.node = node;
        correlations = new AtomicLongArray(capacity);
        pending = new AtomicReferenceArray<>(capacity);
        mask = capacity - 1;
    }

    /** @throws MessagingException if there are too many */
    void add(Pending request) {
        for (int i = 0; i <= mask; i++) {
            long correlation = next.getAndIncrement();
            int slot = (int) correlation & mask;
            if (correlations.get(slot) == FREE && correlations.compareAndSet(slot, FREE, CHANGING)) {
                request.begin(correlation);
                pending.setPlain(slot, request);
                // Who looks whether there are any does not miss it: CHANGING was there before.
                correlations.setRelease(slot, correlation);
                if (request.isTimed && !watched.get() && watched.compareAndSet(false, true)) {
                    try {
                        node.schedule(watch, TICK_NANOS);
                    } catch (RejectedExecutionException e) {
                        unwatched(correlation);
                        throw new MessagingException.NodeLost("this node's event loops have ended", e);
                    } catch (Throwable t) {
                        unwatched(correlation);
                        throw t;
                    }
                }
                return;
            }
            skipped.increment();
        }
        throw new MessagingException(mask + 1 + " requests have not been answered, which is maxRequests of this node");
    }

    private void unwatched(long correlation) {
        watched.set(false);
        take(correlation);
    }

    /** Takes the request with that correlation, or {@code null} if it has ended; then its end is the caller's matter. */
    Pending take(long correlation) {
        int slot = (int) correlation & mask;
        if (correlation <= 0 || !correlations.compareAndSet(slot, correlation, CHANGING)) {
            return null;
        }
        Pending request = pending.getPlain(slot);
        pending.setPlain(slot, null);
        correlations.setRelease(slot, FREE);
        return request;
    }

    /** The same for an answer of a peer, which ends no request to another one. */
    Pending take(long correlation, Peer from) {
        int slot = (int) correlation & mask;
        if (correlation <= 0 || correlations.get(slot) != correlation) {
            return null;
        }
        Pending request = pending.get(slot);
        // If the slot is another request's by now, it is not taken by this correlation.
        return request != null && request.peer == from ? take(correlation) : null;
    }

    /** How many have been begun. It is not counted for each: an atomic addition less. */
    long begun() {
        // A number that is just being skipped counts. What was told once does not become less, even if it was one too many.
        return begun.accumulateAndGet(next.get() - first - skipped.sum(), Math::max);
    }

    /** Ends those of a peer whose ticket is below a limit. */
    void fail(Peer peer, long below, MessagingException cause) {
        for (int i = 0; i <= mask; i++) {
            long correlation = correlations.get(i);
            Pending request = pending.get(i);
            // If it is another request by now, its correlation is another, too.
            if (correlation > 0 && request != null && request.peer == peer && request.ticket < below
                    && take(correlation) == request) {
                node.counters().requestFailed.increment();
                request.fail(cause);
            }
        }
    }

    /** Whether there is one to that peer. */
    boolean isOpen(Peer peer) {
        for (int i = 0; i <= mask; i++) {
            Pending request = correlations.get(i) > 0 ? pending.get(i) : null;
            if (request != null && request.peer == peer) {
                return true;
            }
        }
        return false;
    }

    private void watch() {
        boolean goesOn = true;
        try {
            goesOn = endLate();
        } finally {
            if (goesOn) {
                try {
                    node.schedule(watch, TICK_NANOS);
                } catch (Throwable t) {
                    // Else no request would ever be looked after again. The next one has it begin anew.
                    watched.set(false);
                    throw t;
                }
            }
        }
    }

    /** @return whether somebody has to look again */
    boolean endLate() {
        long now = System.nanoTime();
        boolean more = false;
        for (int i = 0; i <= mask; i++) {
            long correlation = correlations.get(i);
            if (correlation == FREE) {
                continue;
            }
            Pending request = pending.get(i);
            if (request == null || !request.isTimed) {
                continue;
            }
            if (request.deadlineNanos - now <= 0 && take(correlation) == request) {
                request.fail(timeout(request));
            } else {
                more = true;
            }
        }
        if (!more) {
            watched.set(false);
            // One may have come that has seen that we watch.
            return hasTimed() && watched.compareAndSet(false, true);
        }
        return true;
    }

    private boolean hasTimed() {
        for (int i = 0; i <= mask; i++) {
            long correlation = correlations.get(i);
            Pending request = pending.get(i);
            if (correlation == CHANGING || correlation != FREE && request != null && request.isTimed) {
                return true;
            }
        }
        return false;
    }

    MessagingException timeout(Pending request) {
        node.counters().timedOut.increment();
        return new MessagingException.RequestTimeout("node " + request.peer.id()
                + " has not answered in time; it may have handled the request");
    }
}
