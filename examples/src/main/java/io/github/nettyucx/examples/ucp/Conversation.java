// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.ucp;

import io.github.nettyucx.ucp.UcpConnectionRequest;
import io.github.nettyucx.ucp.UcpContext;
import io.github.nettyucx.ucp.UcpContextParams;
import io.github.nettyucx.ucp.UcpEndpoint;
import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpLibraryInfo;
import io.github.nettyucx.ucp.UcpListener;
import io.github.nettyucx.ucp.UcpRequest;
import io.github.nettyucx.ucp.UcpRequestParam;
import io.github.nettyucx.ucp.UcpWorker;
import io.github.nettyucx.ucp.UcpWorkerParams;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.ucp.UcxException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BooleanSupplier;

/**
 * What all the demonstrations begin and end with: a client and a server, each with a worker of its own. Real programs
 * have one of them, and a thread that progresses it.
 */
final class Conversation implements AutoCloseable {

    final UcpContext context;
    final UcpWorker clientWorker;
    final UcpWorker serverWorker;
    final UcpEndpoint client;
    /** {@code null} if the connection was made to a worker's address. */
    final UcpEndpoint server;
    /** For operations on plain bytes, without flags. */
    final long plain;
    private final Arena arena = Arena.ofConfined();

    private Conversation(boolean listening, UcpFeature... features) throws UcxException {
        System.out.println("UCX " + UcpLibraryInfo.query().version());
        context = UcpContext.create(new UcpContextParams().features(features));
        clientWorker = context.createWorker(new UcpWorkerParams());
        serverWorker = context.createWorker(new UcpWorkerParams());
        plain = UcpRequestParam.allocate(arena);
        if (listening) {
            Queue<UcpConnectionRequest> requests = new ArrayDeque<>();
            InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            UcpListener listener = serverWorker.listen(anyPort, requests::add);
            client = clientWorker.connect(listener.localAddress(), null, false, Conversation::failed);
            until(() -> !requests.isEmpty());
            server = serverWorker.accept(requests.remove(), Conversation::failed);
        } else {
            client = clientWorker.connect(serverWorker.queryAddress(), null);
            server = null;
        }
        // An endpoint must not be used for anything else before its first flush is complete.
        complete(client.flushNbx(plain));
        System.out.println("connected over " + client.transports());
    }

    /** Connects through a listener, with error handling. */
    static Conversation overListener(UcpFeature... features) throws UcxException {
        return new Conversation(true, features);
    }

    /** Connects to a worker's address, as it would be exchanged by other means, without error handling. */
    static Conversation overWorkerAddress(UcpFeature... features) throws UcxException {
        return new Conversation(false, features);
    }

    private static void failed(UcpEndpoint endpoint, int status) {
        System.out.println("an endpoint learns: " + UcsStatus.string(status));
    }

    /** Progresses both sides until a condition is met. */
    void until(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            clientWorker.progress();
            serverWorker.progress();
        }
    }

    /** Waits until an operation is complete. */
    void complete(long statusPointer) throws UcxException {
        int status = (int) statusPointer;
        if (UcsStatus.isRequest(statusPointer)) {
            until(() -> UcpRequest.checkStatus(statusPointer) != UcsStatus.INPROGRESS);
            status = UcpRequest.checkStatus(statusPointer);
            UcpRequest.free(statusPointer);
        }
        UcsStatus.check("An operation", status);
    }

    @Override
    public void close() throws UcxException {
        complete(client.closeNbx(server != null));
        if (server != null) {
            until(() -> server.failure() != UcsStatus.OK);
        }
        clientWorker.close();
        serverWorker.close();
        context.close();
        arena.close();
        System.out.println("closed");
    }
}
