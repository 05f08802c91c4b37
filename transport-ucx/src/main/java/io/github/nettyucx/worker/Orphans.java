// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.UcsStatus;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.LongToIntFunction;

/**
 * Requests whose channel is gone. UCX may read or write their memory until it completes them, which for a rendezvous
 * is some time after the endpoint's close has returned; until then the memory stays retained here.
 * <p>
 * Those that last are looked at now and then only, not in every turn: some are never completed.
 */
final class Orphans implements InFlight {

    private static final int INITIAL_CAPACITY = 16;

    /** After that time a request is not expected to complete soon. */
    static final long LASTING_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Counters<WorkerCounter> counters;
    private final LongToIntFunction statusOf;
    private final LongConsumer free;
    private final LongSupplier clock;

    private long[] requests = new long[INITIAL_CAPACITY];
    private ReferenceCounted[] owners = new ReferenceCounted[INITIAL_CAPACITY];
    private Runnable[] whenDone = new Runnable[INITIAL_CAPACITY];
    private long[] sinceNanos = new long[INITIAL_CAPACITY];
    /** The first ones are those that last. */
    private int lasting;
    private int size;
    private boolean polled;

    Orphans(Counters<WorkerCounter> counters, LongToIntFunction statusOf, LongConsumer free, LongSupplier clock) {
        this.counters = counters;
        this.statusOf = statusOf;
        this.free = free;
        this.clock = clock;
    }

    /** @return whether this is to be polled from now on, and was not before */
    boolean add(long request, ReferenceCounted owner, Runnable done) {
        if (size == requests.length) {
            requests = Arrays.copyOf(requests, size * 2);
            owners = Arrays.copyOf(owners, size * 2);
            whenDone = Arrays.copyOf(whenDone, size * 2);
            sinceNanos = Arrays.copyOf(sinceNanos, size * 2);
        }
        put(size++, request, owner, done, clock.getAsLong());
        boolean first = !polled;
        polled = true;
        return first;
    }

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    /** Whether one of them uses memory. */
    boolean haveOwners() {
        for (int i = 0; i < size; i++) {
            if (owners[i] != null) {
                return true;
            }
        }
        return false;
    }

    /** Whether somebody polls this in every turn. */
    boolean isPolled() {
        return polled;
    }

    /** Whether one of them has been here for longer than that. */
    boolean isOlderThan(long nanos, long now) {
        for (int i = 0; i < size; i++) {
            if (now - sinceNanos[i] > nanos) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean poll() {
        for (int i = size - 1; i >= lasting; i--) {
            finishIfComplete(i);
        }
        polled = size > lasting;
        return polled;
    }

    /** Looks at those that last, and which these are by now. @return whether some have completed */
    boolean collect(long now) {
        int before = size;
        for (int i = lasting - 1; i >= 0; i--) {
            finishIfComplete(i);
        }
        for (int i = lasting; i < size; i++) {
            if (now - sinceNanos[i] > LASTING_NANOS) {
                exchange(i, lasting++);
            }
        }
        return size < before;
    }

    private void finishIfComplete(int i) {
        if (statusOf.applyAsInt(requests[i]) != UcsStatus.INPROGRESS) {
            free.accept(requests[i]);
            ReferenceCounted owner = owners[i];
            Runnable done = whenDone[i];
            removeAt(i);
            // One that the application has released too often throws, and the others are not to wait for that.
            ReferenceCountUtil.safeRelease(owner);
            if (done != null) {
                done.run();
            }
        }
    }

    /** Looks at all of them. @return how many have completed */
    int finish() {
        int before = size;
        for (int i = size - 1; i >= 0; i--) {
            finishIfComplete(i);
        }
        return before - size;
    }

    /** Gives up the requests of a worker that has been destroyed. */
    void giveUp() {
        for (int i = size - 1; i >= 0; i--) {
            ReferenceCounted owner = owners[i];
            removeAt(i);
            ReferenceCountUtil.safeRelease(owner);
        }
    }

    /** The last one of its kind takes its place. */
    private void removeAt(int i) {
        counters.increment(WorkerCounter.OPERATIONS_FINISHED);
        int gap = i;
        if (gap < lasting) {
            lasting--;
            exchange(gap, lasting);
            gap = lasting;
        }
        size--;
        exchange(gap, size);
        put(size, 0, null, null, 0);
    }

    private void exchange(int i, int j) {
        long request = requests[i];
        ReferenceCounted owner = owners[i];
        Runnable done = whenDone[i];
        long since = sinceNanos[i];
        put(i, requests[j], owners[j], whenDone[j], sinceNanos[j]);
        put(j, request, owner, done, since);
    }

    private void put(int i, long request, ReferenceCounted owner, Runnable done, long since) {
        requests[i] = request;
        owners[i] = owner;
        whenDone[i] = done;
        sinceNanos[i] = since;
    }
}
