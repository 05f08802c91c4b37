// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/**
 * An address that answers no connect, for the tests of Netty's that time out: a server that accepts nobody, and has no room
 * for more to wait. What a network does with an address that nobody has is different from place to place.
 */
final class SilentServer {

    private static final int CONNECT_MILLIS = 200;
    private static final int MOST = 16;

    /** As long as the process lives. */
    private static final List<AutoCloseable> OPEN = new ArrayList<>();

    private static InetSocketAddress address;

    private SilentServer() {
    }

    /** To be called before Netty's tests are loaded. */
    static void announce() {
        try {
            ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            OPEN.add(server);
            fill(server);
            address = (InetSocketAddress) server.getLocalSocketAddress();
            System.setProperty("io.netty.testsuite.badHost", server.getInetAddress().getHostAddress());
            System.setProperty("io.netty.testsuite.badPort", Integer.toString(server.getLocalPort()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Once it has been announced. */
    static InetSocketAddress address() {
        return address;
    }

    private static void fill(ServerSocket server) throws IOException {
        for (int i = 0; i < MOST; i++) {
            Socket socket = new Socket();
            OPEN.add(socket);
            try {
                socket.connect(server.getLocalSocketAddress(), CONNECT_MILLIS);
            } catch (SocketTimeoutException e) {
                return;
            }
        }
        throw new IOException("a server with a backlog of 1 still has room after " + MOST + " connections");
    }
}
