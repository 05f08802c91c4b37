// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.cluster.ClusterNode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * For how long this broker may think that it leads Raft. Whoever has confirmed it is against an election for the time of an
 * election timeout, when it is asked whether there is to be one. Less than that counts here, from when this broker began to
 * ask: a process that was stopped meanwhile finds that its time is over. Ratis does not ask if a majority has agreed before,
 * or if the leadership is passed on: somebody else may lead already then. Nothing is acknowledged then that the other does not
 * have: who leads is in sync, and takes nothing from an earlier leader. For the event loop only.
 */
final class Lease {
    static final Duration LENGTH = ClusterNode.ELECTION_TIMEOUT.multipliedBy(2).dividedBy(3);
    private static final long EARLY_NANOS = LENGTH.toNanos() / 4;

    private final LongSupplier clock;
    private long end;
    private long lastAsked;
    private boolean asking;

    /** @param clock as {@link System#nanoTime} */
    Lease(LongSupplier clock) {
        this.clock = clock;
        end = clock.getAsLong();
        lastAsked = end - LENGTH.toNanos();
    }

    boolean isValid() {
        return end - clock.getAsLong() > 0;
    }

    /**
     * Asks again if it is time to.
     *
     * @param confirm asks a majority
     * @param loop runs a task on the event loop
     * @param renewed is run there when the lease is longer
     */
    void renew(Supplier<CompletableFuture<?>> confirm, Executor loop, Runnable renewed) {
        var now = clock.getAsLong();
        if (asking || now - lastAsked < EARLY_NANOS) {
            return;
        }
        asking = true;
        lastAsked = now;
        confirm.get().whenCompleteAsync((_, cause) -> {
            asking = false;
            if (cause == null) {
                end = now + LENGTH.toNanos();
                renewed.run();
            }
        }, loop);
    }
}
