// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

/** The server's half of a measurement, which runs until it is stopped. */
interface MeasuredServer extends AutoCloseable {
    /** Of its process. */
    ProcessState state();

    /** Makes {@link #awaitStop} return; safe from any thread, and more than once. */
    void stop();

    void awaitStop() throws InterruptedException;

    @Override
    void close();
}
