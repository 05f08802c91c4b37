// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

/** Is told what the loop's epoll has found out about one socket. */
@FunctionalInterface
public interface SocketWatcher {

    /**
     * Called in the loop's turn; takes note, and may schedule work. Nothing that it throws ends the turn of others.
     *
     * @param events of {@link io.github.nettyucx.socket.Epoll}: {@code IN}, {@code OUT}, {@code RDHUP}, {@code HUP},
     *               {@code ERR}
     */
    void socketReady(int events);

    /** What {@link #socketReady} has thrown, which has been logged: whatever has the socket cannot go on with it. */
    default void faulted(Throwable cause) {
        // Whose own affair it is.
    }
}
