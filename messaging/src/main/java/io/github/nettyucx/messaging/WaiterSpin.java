// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/**
 * Whether a thread that waits for answers spins before it parks. Where the loop, or the peer, needs the thread's processor
 * to answer, spinning makes the answer later: after a few vain attempts the thread parks at once, and tries again now and
 * then, each time more rarely. Only for that thread.
 */
final class WaiterSpin {

    /** Vain attempts in a row after which spinning is given up. */
    static final int PATIENCE = 8;
    /** How many answers go by until it is tried again, from the first time to the last; it doubles. */
    static final int FIRST_INTERVAL = 32;
    static final int LAST_INTERVAL = 1024;

    private int vain;
    private int skipped;
    private int interval = FIRST_INTERVAL;

    /**
     * @param usualNanos how long the thread spins if that pays
     * @return how long it is to spin now; 0 if not at all
     */
    long begin(long usualNanos) {
        if (vain < PATIENCE) {
            return usualNanos;
        }
        if (++skipped < interval) {
            return 0;
        }
        skipped = 0;
        // Others may have given up as well, and take longer until they find that it pays.
        return 2 * usualNanos;
    }

    void ended(boolean answered) {
        if (answered) {
            vain = 0;
            interval = FIRST_INTERVAL;
        } else if (vain < PATIENCE) {
            vain++;
        } else {
            interval = Math.min(LAST_INTERVAL, 2 * interval);
        }
    }
}
