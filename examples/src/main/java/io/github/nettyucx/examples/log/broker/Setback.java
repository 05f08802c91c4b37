// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * That this broker was to lead, and could not: its disk is full, say. For a while others have their turn, each of them once.
 * Without a pause it would begin one epoch after the other. For the event loop only.
 */
final class Setback {
    /** Before it is tried again. */
    static final Duration PAUSE = Duration.ofSeconds(10);

    private final LongSupplier clock;
    private boolean isFresh;
    private long since;
    /** How often somebody has been asked since, and how often somebody has taken it. */
    private int asked;
    private int taken;

    /** @param clock as {@link System#nanoTime} */
    Setback(LongSupplier clock) {
        this.clock = clock;
    }

    /** This broker could not begin. */
    void suffered() {
        isFresh = true;
        since = clock.getAsLong();
        asked = 0;
        taken = 0;
    }

    /** Whether it is not to be tried yet. */
    boolean isFresh() {
        isFresh = isFresh && clock.getAsLong() - since < PAUSE.toNanos();
        return isFresh;
    }

    /**
     * To whom the leadership is to go meanwhile. One who does not answer is asked again when all others have been.
     *
     * @param others that could lead
     * @return {@code null} if there is none, or each of them has had it, and it has come back
     */
    String next(List<String> others) {
        return taken < others.size() ? others.get(asked++ % others.size()) : null;
    }

    /** The one that was asked leads Raft now. */
    void wasTaken() {
        taken++;
    }
}
