// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import io.github.nettyucx.socket.SocketAddresses;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Listens on a socket address. All methods are for the thread that progresses the listener's worker.
 *
 * <p>For clients that can be trusted: what arrives at the port is read by UCX itself, on a thread of its own, and UCX
 * 1.16 to 1.22 end the process on some messages that no client of theirs would send, and on a second message over one
 * connection. Where strangers can connect, exchange {@link UcpWorker#queryAddress() worker addresses} over a connection
 * of your own, and use {@link UcpWorker#connect(byte[], EndpointErrorHandler)}.
 */
public final class UcpListener implements AutoCloseable {

    private final UcpWorker worker;
    private final ConnectionHandler handler;
    private final long id;
    /** Neither accepted nor rejected yet. Accepting threads remove from it. */
    private final Set<UcpConnectionRequest> pending = ConcurrentHashMap.newKeySet();
    /** Calls on other threads that use this listener's memory, as accepting does. */
    private final AtomicInteger accepting = new AtomicInteger();
    private long address;

    UcpListener(UcpWorker worker, InetSocketAddress local, ConnectionHandler handler) throws UcxException {
        this.worker = worker;
        this.handler = handler;
        id = Upcalls.Listeners.REGISTERED.register(this);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment sockaddr = SocketAddresses.encode(arena, local);
            MemorySegment params = arena.allocate(UcpLayouts.ListenerParams.SIZE, Long.BYTES);
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.ListenerParams.FIELD_MASK,
                    UcpConstants.UCP_LISTENER_PARAM_FIELD_SOCK_ADDR
                            | UcpConstants.UCP_LISTENER_PARAM_FIELD_CONN_HANDLER);
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.ListenerParams.SOCKADDR_ADDRESS, sockaddr.address());
            params.set(ValueLayout.JAVA_INT, UcpLayouts.ListenerParams.SOCKADDR_LENGTH, (int) sockaddr.byteSize());
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.ListenerParams.CONN_HANDLER_CB, Upcalls.Listeners.CONNECTION_REQUEST);
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.ListenerParams.CONN_HANDLER_ARG, id);
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            UcpFunctions.check("Listening on " + local,
                    UcpFunctions.Listeners.LISTENER_CREATE, worker.address(), params.address(), out.address());
            address = out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable t) {
            Upcalls.Listeners.REGISTERED.unregister(id);
            throw t;
        }
    }

    /** The {@code ucp_listener_h}. */
    public long address() {
        if (address == 0) {
            throw new IllegalStateException("The listener is closed");
        }
        return address;
    }

    /** Where it listens, with the actual port if 0 was asked for. */
    public InetSocketAddress localAddress() throws UcxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocate(UcpLayouts.ListenerAttr.SIZE, Long.BYTES);
            attr.set(ValueLayout.JAVA_LONG, UcpLayouts.ListenerAttr.FIELD_MASK,
                    UcpConstants.UCP_LISTENER_ATTR_FIELD_SOCKADDR);
            UcpFunctions.check("Asking a listener for its address",
                    UcpFunctions.Listeners.LISTENER_QUERY, address(), attr.address(), 0);
            return SocketAddresses.decodeAsIs(attr, UcpLayouts.ListenerAttr.SOCKADDR);
        }
    }

    /** How many requests wait for being accepted or rejected. Any thread. */
    public int pendingRequests() {
        return pending.size();
    }

    /**
     * Turns a client away: its endpoint fails with {@link UcsStatus#ERR_REJECTED}.
     *
     * @throws IllegalStateException if the request has been accepted or rejected before
     */
    public void reject(UcpConnectionRequest request) throws UcxException {
        if (request.listener() != this) {
            throw new IllegalArgumentException("The request is another listener's");
        }
        address();
        if (!request.take()) {
            throw new IllegalStateException("The connection request has been accepted or rejected before");
        }
        pending.remove(request);
        UcpFunctions.check("Rejecting " + request.clientAddress(),
                UcpFunctions.Listeners.LISTENER_REJECT, address(), request.address(), 0);
    }

    /**
     * Rejects what is pending and stops listening; accepted connections stay. If another thread is about to accept,
     * waits for it.
     */
    @Override
    public void close() {
        if (address == 0) {
            return;
        }
        for (UcpConnectionRequest request : pending) {
            if (!request.isTaken()) {
                rejectQuietly(request);
            }
        }
        // The endpoint's creation writes to the listener's memory.
        while (accepting.get() > 0) {
            Thread.onSpinWait();
        }
        long destroyed = address;
        address = 0;
        worker.listenerClosed(this);
        try {
            UcpFunctions.call(UcpFunctions.Listeners.LISTENER_DESTROY, destroyed, 0, 0);
        } finally {
            Upcalls.Listeners.REGISTERED.unregister(id);
        }
    }

    /** The upcall. Whoever asks must not wait for ever because the handler fails: then the request is rejected. */
    void requested(long requestAddress) {
        UcpConnectionRequest request = new UcpConnectionRequest(this, requestAddress);
        try {
            pending.add(request);
            handler.onConnectionRequest(request);
        } catch (Throwable t) {
            if (!request.isTaken()) {
                rejectQuietly(request);
            }
            throw t;
        }
    }

    /**
     * Any thread, before it accepts.
     *
     * @throws IllegalStateException if the request has been accepted or rejected before, as closing the listener does
     */
    void beginAccept(UcpConnectionRequest request) {
        // Counted first: a close that sees the request taken must also see that somebody works on it.
        accepting.incrementAndGet();
        if (!request.take()) {
            accepting.decrementAndGet();
            throw new IllegalStateException("The connection request has been accepted or rejected before");
        }
        pending.remove(request);
    }

    /** Any thread, after it has accepted or failed to. */
    void endAccept() {
        accepting.decrementAndGet();
    }

    private void rejectQuietly(UcpConnectionRequest request) {
        try {
            reject(request);
        } catch (UcxException | IllegalStateException e) {
            // Somebody else was faster, or UCX has no use for the request any more: either way it's gone.
        }
    }
}
