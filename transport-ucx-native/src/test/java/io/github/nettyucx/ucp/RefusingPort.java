// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/** A port on which nobody listens, and nobody else can in the meantime: it is bound, but to a socket that doesn't. */
final class RefusingPort implements AutoCloseable {

    private final Socket socket = new Socket();

    RefusingPort() throws IOException {
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    InetSocketAddress address() {
        return new InetSocketAddress(socket.getLocalAddress(), socket.getLocalPort());
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
