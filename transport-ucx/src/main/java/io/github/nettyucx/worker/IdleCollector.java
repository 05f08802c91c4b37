// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

/** Gives back what nobody has used for a while. */
public interface IdleCollector {

    /**
     * Called now and then, also by a loop that sleeps, as long as {@link #hasIdle()}.
     *
     * @param now as {@link System#nanoTime()} tells it
     */
    void collect(long now);

    /** Whether there is something that will have to go if nobody uses it again. */
    boolean hasIdle();

    /**
     * Whether somebody waits for something that has to happen in time: the loop then sleeps for no longer than an eighth of
     * a second.
     */
    boolean hasDue();
}
