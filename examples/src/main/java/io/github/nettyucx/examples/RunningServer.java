// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

/** A server that accepts connections. Methods are safe from any thread, and more than once. */
public interface RunningServer extends AutoCloseable {

    HostAndPort address();

    /** Makes {@link #awaitStop} return. */
    void stop();

    void awaitStop() throws InterruptedException;

    /** Closes all connections in an orderly way. */
    @Override
    void close();
}
