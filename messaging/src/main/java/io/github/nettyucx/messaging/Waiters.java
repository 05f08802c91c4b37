// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;

/**
 * Threads that wait until a ring has room: first they look again and again, then they park. They are woken when as much
 * has become free as is worth it, not for every frame.
 */
final class Waiters {

    private static final int SPINS = 100;
    private static final int YIELDS = 4;
    private static final int SLOTS = 64;
    /** For those that find no slot. */
    private static final long NAP_NANOS = 100_000;

    private final AtomicInteger parked = new AtomicInteger();
    private final AtomicReferenceArray<Thread> threads = new AtomicReferenceArray<>(SLOTS);
    private final int worthWaking;
    private int freed;

    /** @param worthWaking how many bytes have to become free before threads are woken, if more are under way */
    Waiters(int worthWaking) {
        this.worthWaking = worthWaking;
    }

    /**
     * Blocks until a condition holds, which has to come true with {@link #freed} or {@link #wakeAll}.
     *
     * @param condition     of the length: so the same object will do for each wait
     * @param length        of what there has to be room for
     * @param deadlineNanos of {@link System#nanoTime}
     * @return whether the condition holds; otherwise the time is over
     * @throws InterruptedException if the thread has been interrupted
     */
    boolean await(IntPredicate condition, int length, long deadlineNanos) throws InterruptedException {
        for (int i = 0; i < SPINS; i++) {
            if (condition.test(length)) {
                return true;
            }
            Thread.onSpinWait();
        }
        for (int i = 0; i < YIELDS; i++) {
            if (condition.test(length)) {
                return true;
            }
            Thread.yield();
        }
        Thread self = Thread.currentThread();
        int slot = 0;
        while (slot < SLOTS && !threads.compareAndSet(slot, null, self)) {
            slot++;
        }
        // From here on the consumer sees us; what it has freed before, we see.
        parked.incrementAndGet();
        try {
            while (!condition.test(length)) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                long left = deadlineNanos - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                LockSupport.parkNanos(this, slot == SLOTS ? Math.min(left, NAP_NANOS) : left);
            }
            return true;
        } finally {
            parked.decrementAndGet();
            if (slot < SLOTS) {
                threads.set(slot, null);
            }
        }
    }

    /**
     * Tells that there is more room; for one thread at a time.
     *
     * @param all whether there can be no more
     */
    void freed(int bytes, boolean all) {
        if (parked.get() == 0) {
            return;
        }
        freed += bytes;
        if (all || freed >= worthWaking) {
            freed = 0;
            wakeAll();
        }
    }

    void wakeAll() {
        for (int i = 0; i < SLOTS; i++) {
            Thread thread = threads.get(i);
            if (thread != null) {
                LockSupport.unpark(thread);
            }
        }
    }

    /** How many threads are parked, or about to be. */
    int parked() {
        return parked.get();
    }
}
