// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.github.nettyucx.socket.SocketLayouts.SockAddrUn;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
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
    private static final String PREFIX = "\0netty-ucx/";
    private static final byte[] WILDCARD = new byte[4];
    /** Its sockets take connections over IPv4 as well. */
    private static final byte[] WILDCARD_OF_IPV6 = new byte[16];
    private static final byte[] LOOPBACK = {127, 0, 0, 1};
    private static final byte[] LOOPBACK_OF_IPV6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    private static final int CLOSED = -1;

    private int fd;

    private Announcement(int fd) {
        this.fd = fd;
    }

    /**
     * Announces a server.
     *
     * @param listening what its socket is bound to, as the kernel says it, with its port
     * @return {@code null} if it could not be: another socket of the same address (SO_REUSEPORT) has the name, or Unix
     *         sockets are refused
     */
    public static Announcement open(InetSocketAddress listening) {
        CallState state = CallState.current();
        int fd = socket(state);
        if (fd < 0) {
            return null;
        }
        InetAddress host = listening.getAddress();
        int length = encode(state, host.getAddress(), listening.getPort());
        // Nobody is to send anything: it would lie in the kernel's memory.
        if (SocketFunctions.bind(state, fd, state.address(CallState.STRUCT), length) < 0
                || SocketFunctions.shutdown(state, fd, SocketConstants.SHUT_RD) < 0) {
            SocketFunctions.close(state, fd);
            return null;
        }
        return new Announcement(fd);
    }

    /** Whether somebody has announced a server that a connection to this address gets to. Nothing is sent. */
    public static boolean isThere(InetSocketAddress server) {
        InetAddress host = server.getAddress();
        if (host == null) {
            return false;
        }
        CallState state = CallState.current();
        int fd = socket(state);
        if (fd < 0) {
            return false;
        }
        int port = server.getPort();
        boolean there = has(state, fd, WILDCARD_OF_IPV6, port)
                || (host instanceof Inet4Address || host.isAnyLocalAddress()) && has(state, fd, WILDCARD, port)
                || (host.isAnyLocalAddress()
                        // A connection to a wildcard gets to the machine itself.
                        ? has(state, fd, LOOPBACK, port) || has(state, fd, LOOPBACK_OF_IPV6, port)
                        : has(state, fd, host.getAddress(), port));
        SocketFunctions.close(state, fd);
        return there;
    }

    private static boolean has(CallState state, int fd, byte[] address, int port) {
        int length = encode(state, address, port);
        return SocketFunctions.connect(state, fd, state.address(CallState.STRUCT), length) == 0;
    }

    private static int socket(CallState state) {
        return SocketFunctions.socket(state, SocketConstants.AF_UNIX,
                SocketConstants.SOCK_DGRAM | SocketConstants.SOCK_NONBLOCK | SocketConstants.SOCK_CLOEXEC);
    }

    /** Writes the {@code struct sockaddr_un}; an abstract name ends where its length says. */
    private static int encode(CallState state, byte[] address, int port) {
        byte[] name = (PREFIX + HexFormat.of().formatHex(address) + '/' + port).getBytes(StandardCharsets.US_ASCII);
        state.memory.set(JAVA_SHORT, CallState.STRUCT + SockAddrUn.FAMILY, (short) SocketConstants.AF_UNIX);
        MemorySegment.copy(name, 0, state.memory, JAVA_BYTE, CallState.STRUCT + SockAddrUn.PATH, name.length);
        return SockAddrUn.PATH + name.length;
    }

    /** Once, or more than once. */
    @Override
    public synchronized void close() {
        if (fd != CLOSED) {
            SocketFunctions.close(CallState.current(), fd);
            fd = CLOSED;
        }
    }
}
