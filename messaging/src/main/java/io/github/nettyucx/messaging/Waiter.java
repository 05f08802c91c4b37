// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.locks.LockSupport;

/** A thread that waits for the answer to its request: it spins for a while, and then parks. */
final class Waiter extends Pending {

    private Thread thread;
    private Object response;
    private MessagingException failure;
    private volatile boolean parked;
    private volatile boolean done;

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
        done = true;
        if (parked) {
            LockSupport.unpark(waiting);
        }
    }

    /**
     * @return whether there is an answer; otherwise the time is over, or the thread has been interrupted
     */
    boolean await(long spinNanos, long deadlineNanos) {
        long spinEnd = System.nanoTime() + spinNanos;
        while (!done) {
            if (System.nanoTime() - spinEnd >= 0) {
                return park(deadlineNanos);
            }
            Thread.onSpinWait();
        }
        return true;
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

    /** An answer is on its way from another thread. */
    void awaitFinish() {
        while (!done) {
            Thread.onSpinWait();
        }
    }

    Object result() {
        if (failure != null) {
            // The stack of the thread that waits says more than that of the loop.
            failure.fillInStackTrace();
            throw failure;
        }
        return response;
    }
}
