// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * Two workers in one process, of one thread, with an endpoint each, connected through a listener and with error
 * handling.
 */
final class ConnectedPair implements AutoCloseable {

    static final long CLIENT_ID = 0x1234_5678_9abc_def0L;

    final UcpContext context;
    final UcpWorker clientWorker;
    final UcpWorker serverWorker;
    final UcpListener listener;
    final UcpConnectionRequest request;
    final UcpEndpoint client;
    final UcpEndpoint server;
    final Loop loop;
    final List<Integer> clientErrors = new ArrayList<>();
    final List<Integer> serverErrors = new ArrayList<>();

    ConnectedPair(Lanes lanes, UcpFeature... features) throws UcxException {
        context = lanes.context(features);
        serverWorker = context.createWorker(new UcpWorkerParams().name("server"));
        clientWorker = context.createWorker(new UcpWorkerParams().name("client").clientId(CLIENT_ID));
        loop = new Loop(serverWorker, clientWorker);
        Queue<UcpConnectionRequest> requests = new ArrayDeque<>();
        listener = serverWorker.listen(loopback(0), requests::add);
        client = clientWorker.connect(
                listener.localAddress(), null, true, (endpoint, status) -> clientErrors.add(status));
        loop.until("a connection request", () -> !requests.isEmpty());
        request = requests.remove();
        server = serverWorker.accept(request, (endpoint, status) -> serverErrors.add(status));
        long param = UcpRequestParam.allocate(Arena.global());
        loop.complete("flushing the client", client.flushNbx(param));
        loop.complete("flushing the server", server.flushNbx(param));
    }

    static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    @Override
    public void close() {
        client.close();
        server.close();
        // What the closing has left to do: a worker that is destroyed with requests complains.
        for (int i = 0; i < 100; i++) {
            loop.progress();
        }
        listener.close();
        clientWorker.close();
        serverWorker.close();
        context.close();
    }
}
