// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import java.io.IOException;
import java.util.HexFormat;

/**
 * Shows a peer that this process is in his network namespace: the name of a Unix datagram socket in the abstract namespace,
 * {@code "\0netty-ucx/here/<number>"}, in hexadecimal digits. The number comes from one that the peer has made up,
 * and he looks for the name. A process that is elsewhere cannot take it, whoever forwards its bytes. The name is gone when the
 * process is, however it ended.
 *
 * <p>Any thread may call.
 */
public final class PresenceSign implements AutoCloseable {
    private static final String PREFIX = "here/";
    /** So that the name fits into a {@code struct sockaddr_un}, in bytes. */
    private static final int MAX_NUMBER = 32;

    private final AbstractName name;

    private PresenceSign(AbstractName name) {
        this.name = name;
    }

    /**
     * Leaves the sign.
     *
     * @param number that nobody can have known before this connection, 1 to 32 bytes
     * @return {@code null} if it could not be left: no descriptor is left, somebody has the name, or Unix sockets are refused
     */
    public static PresenceSign open(byte[] number) {
        AbstractName taken = AbstractName.take(name(number));
        return taken == null ? null : new PresenceSign(taken);
    }

    /**
     * Whether a process of this network namespace has left the sign. Nothing is sent.
     *
     * @param number the same, 1 to 32 bytes
     * @throws IOException if that cannot be told: there is no descriptor to look with, say
     */
    public static boolean isThere(byte[] number) throws IOException {
        String name = name(number);
        CallState state = CallState.current();
        int fd = AbstractName.socket(state);
        if (fd < 0) {
            throw Errno.exception("socket", -fd);
        }
        try {
            return AbstractName.isTaken(state, fd, name);
        } finally {
            SocketFunctions.close(state, fd);
        }
    }

    private static String name(byte[] number) {
        if (number.length == 0 || number.length > MAX_NUMBER) {
            throw new IllegalArgumentException("a number of " + number.length + " bytes; expected 1 to " + MAX_NUMBER);
        }
        return PREFIX + HexFormat.of().formatHex(number);
    }

    /** Takes the sign away. Once, or more than once. */
    @Override
    public void close() {
        name.close();
    }
}
