// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;

/**
 * Tells the processes of the same network namespace that a UCX server listens on an address: the name of a Unix
 * datagram socket in the abstract namespace, {@code "\0netty-ucx/<address>/<port>"}, the address as 8 or 32 hexadecimal
 * digits: 32 zeros for all addresses of both families, 8 for all of IPv4. The name is gone when the process is, however
 * it ended. Any process can take a name: it is a hint, and no proof.
 *
 * <p>Any thread may call.
 */
public final class Announcement implements AutoCloseable {
    private static final byte[] WILDCARD = new byte[4];
    /** Its sockets take connections over IPv4 as well. */
    private static final byte[] WILDCARD_OF_IPV6 = new byte[16];
    private static final byte[] LOOPBACK = {127, 0, 0, 1};
    private static final byte[] LOOPBACK_OF_IPV6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

    private final AbstractName name;

    private Announcement(AbstractName name) {
        this.name = name;
    }

    /**
     * Announces a server.
     *
     * @param listening what its socket is bound to, as the kernel says it, with its port
     * @return {@code null} if it could not be: another socket of the same address (SO_REUSEPORT) has the name, or Unix
     *         sockets are refused
     */
    public static Announcement open(InetSocketAddress listening) {
        AbstractName taken = AbstractName.take(name(listening.getAddress().getAddress(), listening.getPort()));
        return taken == null ? null : new Announcement(taken);
    }

    /**
     * Whether somebody has announced a server that a connection to this address gets to. Nothing is sent.
     *
     * @throws IOException if that cannot be told: there is no descriptor to look with, say
     */
    public static boolean isThere(InetSocketAddress server) throws IOException {
        InetAddress host = server.getAddress();
        if (host == null) {
            return false;
        }
        CallState state = CallState.current();
        int fd = AbstractName.socket(state);
        if (fd < 0) {
            throw Errno.exception("socket", -fd);
        }
        try {
            int port = server.getPort();
            return has(state, fd, WILDCARD_OF_IPV6, port)
                    || (host instanceof Inet4Address || host.isAnyLocalAddress()) && has(state, fd, WILDCARD, port)
                    || (host.isAnyLocalAddress()
                            // A connection to a wildcard gets to the machine itself.
                            ? has(state, fd, LOOPBACK, port) || has(state, fd, LOOPBACK_OF_IPV6, port)
                            : has(state, fd, host.getAddress(), port));
        } finally {
            SocketFunctions.close(state, fd);
        }
    }

    private static boolean has(CallState state, int fd, byte[] address, int port) {
        return AbstractName.isTaken(state, fd, name(address, port));
    }

    private static String name(byte[] address, int port) {
        return HexFormat.of().formatHex(address) + '/' + port;
    }

    /** Once, or more than once. */
    @Override
    public void close() {
        name.close();
    }
}
