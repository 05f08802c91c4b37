// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import io.github.nettyucx.socket.SocketAddresses;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A client's wish to connect. It must be either accepted, with {@link UcpWorker#accept}, or rejected, with
 * {@link UcpListener#reject}; until then it holds a file descriptor, and the client waits.
 *
 * <p>May be handed to another thread and accepted there, on that thread's worker, if the context has
 * {@link UcpContextParams#mtWorkersShared}. The listener must still be open. What is known about the client was read
 * when the request arrived, so any thread may ask for it at any time.
 */
public final class UcpConnectionRequest {

    private final UcpListener listener;
    private final long address;
    private final InetSocketAddress clientAddress;
    private final long clientId;
    private final AtomicBoolean taken = new AtomicBoolean();

    UcpConnectionRequest(UcpListener listener, long address) {
        this.listener = listener;
        this.address = address;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = arena.allocate(UcpLayouts.ConnRequestAttr.SIZE, Long.BYTES);
            // Asked one by one, for a failure with one must not hide the other.
            clientId = query(attr, UcpConstants.UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID) == UcsStatus.OK
                    ? attr.get(ValueLayout.JAVA_LONG, UcpLayouts.ConnRequestAttr.CLIENT_ID) : 0;
            clientAddress = query(attr, UcpConstants.UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR) == UcsStatus.OK
                    ? SocketAddresses.decodeAsIs(attr, UcpLayouts.ConnRequestAttr.CLIENT_ADDRESS) : null;
        }
    }

    private int query(MemorySegment attr, long field) {
        attr.set(ValueLayout.JAVA_LONG, UcpLayouts.ConnRequestAttr.FIELD_MASK, field);
        return (byte) UcpFunctions.call(UcpFunctions.Listeners.CONN_REQUEST_QUERY, address, attr.address(), 0);
    }

    /** What the client's worker was given as {@link UcpWorkerParams#clientId}, or 0 if it didn't send that. */
    public long clientId() {
        return clientId;
    }

    /** Where the client connects from, or {@code null} if the transport can't tell. */
    public InetSocketAddress clientAddress() {
        return clientAddress;
    }

    /** The listener that was asked. */
    public UcpListener listener() {
        return listener;
    }

    /** Whether the request has been accepted or rejected, or is being so. */
    public boolean isTaken() {
        return taken.get();
    }

    /** The {@code ucp_conn_request_h}, which is gone once the request {@linkplain #isTaken() is taken}. */
    public long address() {
        return address;
    }

    /** Makes the caller the one who accepts or rejects. */
    boolean take() {
        return taken.compareAndSet(false, true);
    }
}
