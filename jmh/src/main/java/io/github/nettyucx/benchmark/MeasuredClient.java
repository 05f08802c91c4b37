// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

/** The client's half of a measurement. */
interface MeasuredClient extends AutoCloseable {
    /** Where a client waits until its parent has seen to the server. */
    interface Barrier {
        void await() throws InterruptedException;
    }

    /** Connects, warms up, waits at the barrier, measures. Blocks until that is done. */
    ClientResult measure() throws InterruptedException;

    @Override
    void close();
}
