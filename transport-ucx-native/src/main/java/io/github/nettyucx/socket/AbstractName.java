// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.github.nettyucx.socket.SocketLayouts.SockAddrUn;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * Names of Unix datagram sockets in the abstract namespace, {@code "\0netty-ucx/…"}: whoever is in the same network namespace
 * finds them, they are nowhere in a file system, and they are gone with their process, however it ended.
 */
final class AbstractName implements AutoCloseable {
    private static final String PREFIX = "\0netty-ucx/";
    private static final int CLOSED = -1;

    private int fd;

    private AbstractName(int fd) {
        this.fd = fd;
    }

    /** @return {@code null} if it cannot be had: somebody has it, no descriptor is left, or Unix sockets are refused */
    static AbstractName take(String name) {
        CallState state = CallState.current();
        int fd = socket(state);
        if (fd < 0) {
            return null;
        }
        AbstractName taken = null;
        try {
            AbstractName made = new AbstractName(fd);
            // Nobody is to send anything: it would lie in the kernel's memory.
            if (SocketFunctions.bind(state, fd, state.address(CallState.STRUCT), encode(state, name)) >= 0
                    && SocketFunctions.shutdown(state, fd, SocketConstants.SHUT_RD) >= 0) {
                taken = made;
            }
            return taken;
        } finally {
            if (taken == null) {
                SocketFunctions.close(state, fd);
            }
        }
    }

    /** Gives the name back. Once, or more than once; from any thread. */
    @Override
    public synchronized void close() {
        if (fd != CLOSED) {
            SocketFunctions.close(CallState.current(), fd);
            fd = CLOSED;
        }
    }

    /**
     * Whether somebody has the name. Nothing is sent.
     *
     * @param fd a {@link #socket}
     */
    static boolean isTaken(CallState state, int fd, String name) {
        return SocketFunctions.connect(state, fd, state.address(CallState.STRUCT), encode(state, name)) == 0;
    }

    /** @return a socket to ask with, or a negative {@code errno} */
    static int socket(CallState state) {
        return SocketFunctions.socket(state, SocketConstants.AF_UNIX,
                SocketConstants.SOCK_DGRAM | SocketConstants.SOCK_NONBLOCK | SocketConstants.SOCK_CLOEXEC);
    }

    /** Writes the {@code struct sockaddr_un}; an abstract name ends where its length says. */
    private static int encode(CallState state, String name) {
        byte[] bytes = (PREFIX + name).getBytes(StandardCharsets.US_ASCII);
        state.memory.set(JAVA_SHORT, CallState.STRUCT + SockAddrUn.FAMILY, (short) SocketConstants.AF_UNIX);
        MemorySegment.copy(bytes, 0, state.memory, JAVA_BYTE, CallState.STRUCT + SockAddrUn.PATH, bytes.length);
        return SockAddrUn.PATH + bytes.length;
    }
}
