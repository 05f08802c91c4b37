// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

/** The client's half of a measurement. */
interface MeasuredClient extends AutoCloseable {
    /** What a client does together with its parent, which sees to the server. */
    interface Barrier {
        /** Until the parent has seen what the server has used before the measurement. */
        void await() throws InterruptedException;

        /**
         * The measurement is over, and from now on the server only waits for what comes: that is not to count. So this comes
         * before all that takes time.
         */
        default void over() {
            // Who has no parent has nobody to tell.
        }
    }

    /** Connects, warms up, waits at the barrier, measures, says that it is over. Blocks until all of that is done. */
    ClientResult measure() throws InterruptedException;

    @Override
    void close();
}
