// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

/**
 * Decides how long an idle loop looks for work before it sleeps.
 * <p>
 * Looking pays when work comes within that time. Where it does not, as between processes that share a core and so
 * cannot work while the other looks, it only makes everything later: after a few vain attempts the loop sleeps at
 * once, and tries again now and then whether that has changed.
 */
final class AdaptiveSpin {

    /** Vain attempts in a row after which looking is given up. */
    private static final int PATIENCE = 8;

    /** How often it is tried again after that: once in so many idle times. */
    private static final int RETRY_INTERVAL = 32;

    /** How often a spinning loop looks at the clock: reading it costs as much as a turn. */
    private static final int TURNS_PER_CLOCK_READ = 8;

    private final long limitNanos;
    private int vain;
    private int skipped;
    private int turns;
    private long sinceNanos;

    AdaptiveSpin(long limitNanos) {
        this.limitNanos = limitNanos;
    }

    /** The loop has found work. */
    void worked() {
        if (turns > 0) {
            turns = 0;
            vain = 0;
        }
    }

    /** The loop has found nothing. @return whether it should look again; otherwise it should sleep */
    boolean again() {
        if (turns == 0) {
            if (limitNanos == 0 || vain >= PATIENCE && ++skipped % RETRY_INTERVAL != 0) {
                return false;
            }
            sinceNanos = System.nanoTime();
        }
        if (++turns % TURNS_PER_CLOCK_READ != 0 || System.nanoTime() - sinceNanos < limitNanos) {
            return true;
        }
        return false;
    }

    /** The loop has slept, because looking was in vain. */
    void slept() {
        if (turns > 0) {
            turns = 0;
            vain++;
        }
    }
}
