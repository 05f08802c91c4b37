// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.util.ReferenceCounted;

import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.LongToIntFunction;

/** A worker's {@link Orphans}, for a worker that is not real. */
public final class OrphanWard implements InFlight {

    private final Orphans orphans;

    /** @param clock in nanoseconds */
    public OrphanWard(LongToIntFunction statusOf, LongConsumer free, LongSupplier clock) {
        orphans = new Orphans(new Counters<>(WorkerCounter.class)) {
            @Override
            int statusOf(long request) {
                return statusOf.applyAsInt(request);
            }

            @Override
            void free(long request) {
                free.accept(request);
            }

            @Override
            long now() {
                return clock.getAsLong();
            }
        };
    }

    /** @return whether this is to be polled from now on, and was not before */
    public boolean add(long request, ReferenceCounted owner, Runnable done) {
        return orphans.add(request, owner, done == null ? null : status -> done.run());
    }

    public boolean isEmpty() {
        return orphans.isEmpty();
    }

    public boolean isOlderThan(long nanos, long now) {
        return orphans.isOlderThan(nanos, now);
    }

    @Override
    public boolean poll() {
        return orphans.poll();
    }

    public void collect(long now) {
        orphans.collect(now);
    }

    public void giveUp() {
        orphans.giveUp();
    }
}
