// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.io.IOException;

/**
 * Input and output of one event loop as the loop sees it: what its turns and its waiting need. All methods but
 * {@link #wakeup()} belong to the loop's thread.
 */
public interface EnginePort {

    /**
     * One turn: takes what has arrived and completed, and runs what is ready because of it.
     *
     * @return how much was done; 0 when there was nothing to do
     */
    int poll();

    /** The turn that {@link #poll} began goes on with tasks, which may take long. */
    default void busy() {
        // Nothing that is late then.
    }

    /**
     * The loop has just slept, and will sleep again if the next {@link #poll} finds nothing: that need not ask the kernel for
     * what the sleep asks for as well.
     */
    default void sleepsNext() {
        // Nothing that is left out then.
    }

    /**
     * The loop does not sleep after all.
     *
     * @return how much was done of what the last {@link #poll} has left to the sleep
     */
    default int makeUp() {
        return 0;
    }

    /**
     * Prepares to block.
     *
     * @return whether the loop may block; if not, there is something to do already
     */
    boolean arm() throws IOException;

    /**
     * Blocks until something happens, {@link #wakeup()} is called or the time is over.
     *
     * @param timeoutNanos negative for no limit
     */
    void await(long timeoutNanos) throws IOException;

    /** Ends a running or the next {@link #await(long)}. Any thread may call. */
    void wakeup();
}
