// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import io.github.nettyucx.socket.SocketAddresses;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * One side of a connection. Everything here, and every operation on the {@link #address()}, is for the one thread that
 * progresses the endpoint's worker.
 *
 * <p>A new endpoint is not connected yet: {@link #flushNbx} completes when it is. Before that nothing should be sent.
 * After its error handler was called, or an operation on it failed with anything but a complaint about the arguments,
 * nothing more may be done with it than to close it.
 */
public final class UcpEndpoint implements AutoCloseable {

    /** One of the means by which an endpoint communicates, such as "tcp" on "eth0" or "sysv" on "memory". */
    public record Transport(String name, String device) {
    }

    /** No endpoint has as many lanes, in any release. */
    private static final int MAX_TRANSPORTS = 64;

    private static final long CLOSE_FLUSH = UcpRequestParam.allocate(Arena.global());
    private static final long CLOSE_FORCE = UcpRequestParam.allocate(
            Arena.global(), UcpRequestParam.OP_ATTR_FIELD_FLAGS, UcpConstants.UCP_EP_CLOSE_FLAG_FORCE);

    private final UcpWorker worker;
    private final EndpointErrorHandler errorHandler;
    private final long id;
    private long address;
    private boolean closed;
    private int failure = UcsStatus.OK;

    UcpEndpoint(UcpWorker worker, UcpEndpointParams params) throws UcxException {
        this.worker = worker;
        errorHandler = params.errorHandler();
        UcpConnectionRequest request = params.connectionRequest();
        // Before the request is taken, for then it must come to an end.
        params.validate();
        long workerAddress = worker.address();
        if (request != null) {
            request.listener().beginAccept(request);
        }
        id = Upcalls.ENDPOINTS.register(this);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            UcpFunctions.check(params.purpose(),
                    UcpFunctions.Messages.EP_CREATE, workerAddress, params.write(arena, id), out.address());
            address = out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable t) {
            Upcalls.ENDPOINTS.unregister(id);
            throw t;
        } finally {
            if (request != null) {
                request.listener().endAccept();
            }
        }
    }

    /**
     * The endpoint with this {@link #id()}, or {@code null} if it has been closed. Allocates nothing.
     */
    public static UcpEndpoint of(long id) {
        return Upcalls.ENDPOINTS.get(id);
    }

    /** The {@code ucp_ep_h}. */
    public long address() {
        if (closed) {
            throw new IllegalStateException("The endpoint is closed");
        }
        return address;
    }

    /** Identifies the endpoint within the process; the {@code user_data} that UCX reports for it. */
    public long id() {
        return id;
    }

    /** The worker that the endpoint belongs to. */
    public UcpWorker worker() {
        return worker;
    }

    /** The status that the error handler was called with, or {@link UcsStatus#OK}. */
    public int failure() {
        return failure;
    }

    public boolean isClosed() {
        return closed;
    }

    /**
     * Completes when everything that was sent before has left, and the endpoint is connected. That is not delivery.
     *
     * @param param address of a {@link UcpRequestParam} block
     * @return a status pointer
     */
    public long flushNbx(long param) {
        assert !closed;
        return flushNbx(address, param);
    }

    /** As {@link #flushNbx(long)}, on a plain address. */
    public static long flushNbx(long endpoint, long param) {
        return UcpFunctions.call(UcpFunctions.Messages.EP_FLUSH_NBX, endpoint, param, 0);
    }

    /**
     * Closes the endpoint. Its error handler isn't called any more once this has returned, and the endpoint can't be
     * used; what was received in its stream and not released goes with it. Closing again returns 0.
     *
     * @param force whether to give up what is in progress, which then completes with {@link UcsStatus#ERR_CANCELED},
     *              during this call or in a later progress. Otherwise everything is sent first, which takes for ever
     *              if the peer doesn't progress. An endpoint without error handling can't be forced
     * @return a status pointer; a request must be freed as any other
     */
    public long closeNbx(boolean force) {
        if (closed) {
            return UcsStatus.OK;
        }
        if (force && errorHandler == null) {
            return UcsStatus.ERR_INVALID_PARAM;
        }
        closed = true;
        worker.endpointClosed(this);
        try {
            return UcpFunctions.call(UcpFunctions.Messages.EP_CLOSE_NBX, address, force ? CLOSE_FORCE : CLOSE_FLUSH, 0);
        } finally {
            Upcalls.ENDPOINTS.unregister(id);
        }
    }

    /**
     * Closes the endpoint without waiting: by force if it has error handling; otherwise it is flushed by the worker's
     * further progress.
     */
    @Override
    public void close() {
        long status = closeNbx(errorHandler != null);
        if (UcsStatus.isRequest(status)) {
            // No buffer is at stake: the request may end whenever it likes.
            UcpRequest.free(status);
        }
    }

    /**
     * The local socket address, for an endpoint that came about through a listener.
     *
     * @throws UcxException {@link UcsStatus#ERR_NOT_CONNECTED} otherwise, and after a failure
     */
    public InetSocketAddress localAddress() throws UcxException {
        return queryAddress(UcpConstants.UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR, UcpLayouts.EpAttr.LOCAL_SOCKADDR);
    }

    /** The peer's socket address; conditions as for {@link #localAddress()}. */
    public InetSocketAddress remoteAddress() throws UcxException {
        return queryAddress(UcpConstants.UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR, UcpLayouts.EpAttr.REMOTE_SOCKADDR);
    }

    /**
     * Makes a key that a peer has {@linkplain UcpMemory#packRemoteKey() packed} usable on this endpoint, which must
     * lead to that peer. The bytes must be as they were packed: UCX doesn't expect anything else.
     */
    public UcpRemoteKey unpackRemoteKey(byte[] packed) throws UcxException {
        return new UcpRemoteKey(this, packed);
    }

    private InetSocketAddress queryAddress(long field, long offset) throws UcxException {
        return SocketAddresses.decodeAsIs(query(field), offset);
    }

    /** The name given at creation, or UCX's choice: release builds of UCX don't keep names. */
    public String name() throws UcxException {
        return query(UcpConstants.UCP_EP_ATTR_FIELD_NAME).getString(UcpLayouts.EpAttr.NAME);
    }

    /** The transports in use, one for each lane, so that some may be listed twice; changes while connecting. */
    public List<Transport> transports() throws UcxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entries = arena.allocate(
                    (long) MAX_TRANSPORTS * UcpLayouts.TransportEntry.SIZE, Long.BYTES);
            MemorySegment attr = arena.allocate(UcpLayouts.EpAttr.SIZE, Long.BYTES);
            attr.set(ValueLayout.JAVA_LONG, UcpLayouts.EpAttr.TRANSPORTS_ENTRIES, entries.address());
            attr.set(ValueLayout.JAVA_INT, UcpLayouts.EpAttr.TRANSPORTS_NUM_ENTRIES, MAX_TRANSPORTS);
            attr.set(ValueLayout.JAVA_LONG, UcpLayouts.EpAttr.TRANSPORTS_ENTRY_SIZE, UcpLayouts.TransportEntry.SIZE);
            query(attr, UcpConstants.UCP_EP_ATTR_FIELD_TRANSPORTS);
            int count = attr.get(ValueLayout.JAVA_INT, UcpLayouts.EpAttr.TRANSPORTS_NUM_ENTRIES);
            List<Transport> transports = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                long entry = entries.address() + (long) i * UcpLayouts.TransportEntry.SIZE;
                transports.add(new Transport(
                        NativeMemory.getString(
                                NativeMemory.getLong(entry + UcpLayouts.TransportEntry.TRANSPORT_NAME)),
                        NativeMemory.getString(
                                NativeMemory.getLong(entry + UcpLayouts.TransportEntry.DEVICE_NAME))));
            }
            return List.copyOf(transports);
        }
    }

    private MemorySegment query(long field) throws UcxException {
        return query(Arena.ofAuto().allocate(UcpLayouts.EpAttr.SIZE, Long.BYTES), field);
    }

    private MemorySegment query(MemorySegment attr, long field) throws UcxException {
        attr.set(ValueLayout.JAVA_LONG, UcpLayouts.EpAttr.FIELD_MASK, field);
        UcpFunctions.check("Asking an endpoint for its attributes",
                UcpFunctions.Messages.EP_QUERY, address(), attr.address(), 0);
        return attr;
    }

    /** The upcall. */
    void failed(long endpoint, int status) {
        if (address == 0) {
            // UCX called before it returned the handle.
            address = endpoint;
        }
        failure = status;
        errorHandler.onError(this, status);
    }
}
