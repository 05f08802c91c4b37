// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.locks.LockSupport;

/** A thread that waits for the answer to its request: it spins for a while if that pays, and then parks. */
final class Waiter extends Pending {

    private Thread thread;
    private Object response;
    private MessagingException failure;
    private final WaiterSpin spin;
    private volatile boolean parked;
    private volatile boolean done;

    /** @param spin of the thread */
    Waiter(WaiterSpin spin) {
        this.spin = spin;
    }

    void begin() {
        thread = Thread.currentThread();
        response = null;
        failure = null;
        parked = false;
        done = false;
    }

    @Override
    void succeed(Object value) {
        response = value;
        finish();
    }

    @Override
    void fail(MessagingException cause) {
        failure = cause;
        finish();
    }

    private void finish() {
        Thread waiting = thread;
        Peer waitedFor = peer;
        done = true;
        if (parked) {
            LockSupport.unpark(waiting);
            waitedFor.makeWay();
        }
    }

    /**
     * Waits until the deadline.
     *
     * @return whether there is an answer; otherwise the time is over, or the thread has been interrupted
     */
    boolean await(long spinNanos) {
        if (!Inbox.isHandling()) {
            return await(spinNanos, deadlineNanos);
        }
        boolean answered = await(spinNanos, nextLook());
        while (!answered && deadlineNanos - System.nanoTime() > 0 && !Thread.currentThread().isInterrupted()) {
            Inbox.handlerWaits();
            answered = park(nextLook());
        }
        return answered;
    }

    private long nextLook() {
        long next = System.nanoTime() + Inbox.STALL_NANOS;
        return next - deadlineNanos < 0 ? next : deadlineNanos;
    }

    private boolean await(long spinNanos, long deadlineNanos) {
        long limit = spin.begin(spinNanos);
        if (limit > 0) {
            long now = System.nanoTime();
            // What is cut short says nothing of whether it would have paid.
            boolean isCut = deadlineNanos - now < limit;
            long spinEnd = isCut ? deadlineNanos : now + limit;
            while (!done) {
                if (System.nanoTime() - spinEnd >= 0) {
                    if (!isCut) {
                        spin.ended(false);
                    }
                    return park(deadlineNanos);
                }
                if (thread.isInterrupted()) {
                    return done;
                }
                Thread.onSpinWait();
            }
            spin.ended(true);
            return true;
        }
        return park(deadlineNanos);
    }

    private boolean park(long deadlineNanos) {
        parked = true;
        while (!done) {
            long left = deadlineNanos - System.nanoTime();
            if (left <= 0 || Thread.currentThread().isInterrupted()) {
                return done;
            }
            LockSupport.parkNanos(this, left);
        }
        return true;
    }

    /**
     * An answer is on its way from another thread, which may have a codec read it first. The thread's interrupt is left for
     * afterwards.
     */
    void awaitFinish() {
        boolean interrupted = false;
        parked = true;
        while (!done) {
            // With it a thread does not park.
            interrupted |= Thread.interrupted();
            LockSupport.park(this);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    Object result() {
        if (failure != null) {
            // The stack of the thread that waits says more than that of the loop. And others may wait for the same.
            throw failure.again();
        }
        return response;
    }

    /** The thread may live longer than the node, and may never ask again. */
    void end() {
        // What is held for as long as there is a thread does not hold the thread.
        thread = null;
        peer = null;
        codec = null;
        response = null;
        failure = null;
    }
}
