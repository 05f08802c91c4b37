// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Passes bytes on, in both directions, with connections of its own to a server. */
public final class Forwarder implements AutoCloseable {

    private final ServerSocket listening = new ServerSocket();
    private final InetSocketAddress server;

    public Forwarder(InetSocketAddress server) throws IOException {
        this.server = server;
        listening.bind(Peers.loopback(0));
        Thread.ofVirtual().start(this::accept);
    }

    /** Where clients are to connect to. */
    public InetSocketAddress address() {
        return (InetSocketAddress) listening.getLocalSocketAddress();
    }

    private void accept() {
        try {
            for (;;) {
                Socket client = listening.accept();
                Socket target = new Socket(server.getAddress(), server.getPort());
                Thread.ofVirtual().start(() -> pass(client, target));
                Thread.ofVirtual().start(() -> pass(target, client));
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private static void pass(Socket from, Socket to) {
        try (from; to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // An end as well.
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
    }
}
