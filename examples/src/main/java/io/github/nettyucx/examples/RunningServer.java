// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

/** A server that accepts connections. Methods are safe from any thread, and more than once. */
public interface RunningServer extends AutoCloseable {

    HostAndPort address();

    /** Makes {@link #awaitStop} return. */
    void stop();

    void awaitStop() throws InterruptedException;

    /** What it is about, for who looks for the reason of something. Within some seconds. */
    default String describe() {
        return "serves " + address();
    }

    /** Closes all connections in an orderly way. */
    @Override
    void close();
}
