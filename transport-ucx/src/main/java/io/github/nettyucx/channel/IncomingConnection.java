// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.ucp.UcpConnectionRequest;
import io.github.nettyucx.worker.Doorkeeper;
import io.github.nettyucx.worker.Endpoint;
import io.github.nettyucx.worker.EndpointListener;
import io.github.nettyucx.worker.Worker;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;

/**
 * A request to connect, on its way from the server's loop to that of the child channel. It has to be accepted or
 * rejected: one that is forgotten would leave its client waiting for ever.
 */
final class IncomingConnection {

    private final UcxServerSocketChannel server;
    private final UcpConnectionRequest request;
    private final InetSocketAddress local;
    private final Doorkeeper.Guest guest;
    private final long arrivedNanos = System.nanoTime();
    private volatile boolean acceptBegun;

    IncomingConnection(UcxServerSocketChannel server, UcpConnectionRequest request, InetSocketAddress local,
                       Doorkeeper.Guest guest) {
        this.server = server;
        this.request = request;
        this.local = local;
        this.guest = guest;
    }

    InetSocketAddress remoteAddress() {
        return request.clientAddress();
    }

    /** The server's, until UCX tells which of them the client has connected to. */
    InetSocketAddress localAddress() {
        return local;
    }

    long clientId() {
        return request.clientId();
    }

    long arrivedNanos() {
        return arrivedNanos;
    }

    /** On the loop of the worker. */
    Endpoint accept(Worker worker, EndpointListener listener) throws IOException {
        acceptBegun = true;
        try {
            return worker.accept(request, listener);
        } catch (IllegalStateException e) {
            // The server has been closed, and has rejected what it had not accepted.
            throw (IOException) new ClosedChannelException().initCause(e);
        }
    }

    boolean isTaken() {
        return request.isTaken();
    }

    /** From any thread. */
    void rejectIfPending() {
        if (!isTaken()) {
            server.reject(request);
            guest.left();
        }
    }

    /** The server has been closed, and has rejected the request unless somebody accepts it; that one has an end. */
    void serverClosed() {
        if (!acceptBegun) {
            guest.left();
        }
    }

    /** The connection that was made of it is over, if there ever was one. From any thread. */
    void ended() {
        rejectIfPending();
        guest.left();
    }
}
