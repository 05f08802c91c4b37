// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.library.UcxLibrary;
import io.github.nettyucx.ucp.UcpConnectionRequest;
import io.github.nettyucx.ucp.UcpContext;
import io.github.nettyucx.ucp.UcpContextParams;
import io.github.nettyucx.ucp.UcpEndpoint;
import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpListener;
import io.github.nettyucx.ucp.UcpRequest;
import io.github.nettyucx.ucp.UcpRequestParam;
import io.github.nettyucx.ucp.UcpStream;
import io.github.nettyucx.ucp.UcpWorker;
import io.github.nettyucx.ucp.UcpWorkerParams;
import io.github.nettyucx.ucp.UcsStatus;
import io.github.nettyucx.ucp.UcxException;
import io.github.nettyucx.worker.Doorkeeper;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/** A program that speaks UCX, but has a protocol of its own. Everything it does it does on the test's thread. */
public final class RawPeer implements AutoCloseable {

    private static final long SECONDS = 15;

    private final Arena arena = Arena.ofConfined();
    private final UcpContext context;
    private final UcpWorker worker;
    private final long plain = UcpRequestParam.allocate(arena);
    private final Queue<UcpConnectionRequest> requests = new ArrayDeque<>();
    private UcpEndpoint endpoint;
    /** {@code null} if nobody was let in. */
    private Doorkeeper doorkeeper;
    private volatile int failure = UcsStatus.OK;

    public RawPeer() throws UcxException {
        UcxLibrary.load();
        context = UcpContext.create(new UcpContextParams().features(UcpFeature.TAG, UcpFeature.STREAM));
        worker = context.createWorker(new UcpWorkerParams());
    }

    public void connect(InetSocketAddress server) throws UcxException {
        endpoint = worker.connect(server, null, false, (failed, status) -> failure = status);
        complete(endpoint.flushNbx(plain));
    }

    public InetSocketAddress listen() throws UcxException {
        UcpListener listener = worker.listen(Peers.loopback(0), requests::add);
        doorkeeper = new Doorkeeper(listener.localAddress(), () -> Integer.MAX_VALUE, new AtomicLong());
        return listener.localAddress();
    }

    public void accept() throws UcxException {
        until(() -> !requests.isEmpty(), "nobody connects");
        endpoint = worker.accept(requests.remove(), (failed, status) -> failure = status);
        complete(endpoint.flushNbx(plain));
    }

    public void say(byte[] bytes) throws UcxException {
        MemorySegment copy = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
        complete(UcpStream.sendNbx(endpoint.address(), copy.address(), bytes.length, plain));
    }

    /** Until the other side has closed the connection. */
    void awaitEnd() {
        until(() -> failure != UcsStatus.OK, "the other side does not close the connection");
    }

    private void complete(long statusPointer) throws UcxException {
        int status = (int) statusPointer;
        if (UcsStatus.isRequest(statusPointer)) {
            until(() -> UcpRequest.checkStatus(statusPointer) != UcsStatus.INPROGRESS, "an operation does not end");
            status = UcpRequest.checkStatus(statusPointer);
            UcpRequest.free(statusPointer);
        }
        UcsStatus.check("An operation", status);
    }

    /** Lets UCX work until a condition is met. */
    public void until(BooleanSupplier condition, String otherwise) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(SECONDS)) {
                throw new AssertionError("after " + SECONDS + " s: " + otherwise);
            }
            if (worker.progress() == 0) {
                Thread.onSpinWait();
            }
        }
    }

    @Override
    public void close() {
        if (endpoint != null) {
            long request = endpoint.closeNbx(true);
            if (UcsStatus.isRequest(request)) {
                until(() -> UcpRequest.checkStatus(request) != UcsStatus.INPROGRESS, "the endpoint does not close");
                UcpRequest.free(request);
            }
        }
        if (doorkeeper != null) {
            // UCX would use the listener when the message of a client comes that has connected already.
            doorkeeper.turnAllAway();
        }
        worker.close();
        if (doorkeeper != null) {
            doorkeeper.close();
        }
        context.close();
        arena.close();
    }
}
