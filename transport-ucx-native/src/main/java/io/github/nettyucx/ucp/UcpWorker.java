// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A progress engine: it owns endpoints and listeners, and things happen on them only while a thread calls
 * {@link #progress()}.
 *
 * <p>A worker, and everything that belongs to it, is for one thread: the one that progresses it. Exceptions:
 * {@link #signal()} may be called by any thread while the worker is open; and a request from one worker's listener
 * may be accepted on another worker, by the latter's thread, if the context has
 * {@link UcpContextParams#mtWorkersShared}.
 */
public final class UcpWorker implements AutoCloseable {

    private final UcpContext context;
    private final Set<UcpListener> listeners = new HashSet<>();
    private final Set<UcpEndpoint> endpoints = new HashSet<>();
    private final List<Long> activeMessageHandlers = new ArrayList<>();
    private long address;

    UcpWorker(UcpContext context, UcpWorkerParams params) throws UcxException {
        this.context = context;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            long written = params.write(arena);
            // The transports read their settings.
            UcpFunctions.checkReading("Creating a worker",
                    UcpFunctions.Messages.WORKER_CREATE, context.address(), written, out.address());
            address = out.get(ValueLayout.JAVA_LONG, 0);
            context.retained();
            Upcalls.retain();
        }
    }

    /** The {@code ucp_worker_h}. */
    public long address() {
        if (address == 0) {
            throw new IllegalStateException("The worker is closed");
        }
        return address;
    }

    public boolean isClosed() {
        return address == 0;
    }

    /**
     * Does what can be done now on all endpoints: sends, receives, completes, and calls the handlers. Not to be
     * called by a handler.
     *
     * @return 0 if nothing happened
     */
    public int progress() {
        assert address != 0;
        return progress(address);
    }

    /** As {@link #progress()}, on a plain address. Allocates nothing. */
    public static int progress(long worker) {
        try {
            return (int) (long) UcpFunctions.Messages.WORKER_PROGRESS.invokeExact(worker, 0L, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Prepares for waiting: after {@link UcsStatus#OK} the {@link #eventFd()} becomes readable when something
     * happens. Needs {@link UcpFeature#WAKEUP}.
     *
     * @return {@link UcsStatus#OK}, or {@link UcsStatus#ERR_BUSY} if there is something to progress, or another status
     */
    public int arm() {
        assert address != 0;
        return arm(address);
    }

    /** As {@link #arm()}, on a plain address. */
    public static int arm(long worker) {
        try {
            return (byte) (long) UcpFunctions.Messages.WORKER_ARM.invokeExact(worker, 0L, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Makes the {@link #eventFd()} readable, or the next {@link #arm()} return {@link UcsStatus#ERR_BUSY}. Any
     * thread, as long as the worker is open. Needs {@link UcpFeature#WAKEUP}.
     */
    public void signal() {
        signal(address());
    }

    /**
     * As {@link #signal()}, on a plain address; returns the status, which can only be an error if the call is wrong.
     */
    public static int signal(long worker) {
        try {
            return (byte) (long) UcpFunctions.Messages.WORKER_SIGNAL.invokeExact(worker, 0L, 0L);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /** The file descriptor to wait on after {@link #arm()}; the worker's own, not to be closed. */
    public int eventFd() throws UcxException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
            UcpFunctions.check("Asking a worker for its event file descriptor",
                    UcpFunctions.Messages.WORKER_GET_EFD, address(), out.address(), 0);
            int fd = out.get(ValueLayout.JAVA_INT, 0);
            if (fd < 0) {
                // Release builds of UCX don't look whether the context has the feature.
                throw UcsStatus.exception("Asking a worker of a context without wakeup for its event file descriptor",
                        UcsStatus.ERR_UNSUPPORTED);
            }
            return fd;
        }
    }

    /**
     * Completes when all operations on all endpoints that were started before are done.
     *
     * @param param address of a {@link UcpRequestParam} block
     * @return a status pointer
     */
    public long flushNbx(long param) {
        assert address != 0;
        return UcpFunctions.call(UcpFunctions.Messages.WORKER_FLUSH_NBX, address, param, 0);
    }

    /**
     * Orders the remote memory operations before this call before those after it. Where the transports do not keep order
     * themselves, UCX waits until the former are done, and progresses this worker only: so the peer must make progress on
     * a thread of its own.
     */
    public void fence() throws UcxException {
        UcpFunctions.check("Fencing a worker", UcpFunctions.Messages.WORKER_FENCE, address(), 0, 0);
    }

    /** The worker's address, for {@link #connect(byte[], EndpointErrorHandler)} on another worker in any process. */
    public byte[] queryAddress() throws UcxException {
        MemorySegment attr = query(UcpConstants.UCP_WORKER_ATTR_FIELD_ADDRESS);
        long workerAddress = attr.get(ValueLayout.JAVA_LONG, UcpLayouts.WorkerAttr.ADDRESS);
        long length = attr.get(ValueLayout.JAVA_LONG, UcpLayouts.WorkerAttr.ADDRESS_LENGTH);
        byte[] copy = NativeMemory.getBytes(workerAddress, length);
        UcpFunctions.call(UcpFunctions.Messages.WORKER_RELEASE_ADDRESS, address, workerAddress, 0);
        return copy;
    }

    /** The mode that the worker has got, which may be stricter than the one asked for. */
    public UcsThreadMode threadMode() throws UcxException {
        return UcsThreadMode.of(query(UcpConstants.UCP_WORKER_ATTR_FIELD_THREAD_MODE)
                .get(ValueLayout.JAVA_INT, UcpLayouts.WorkerAttr.THREAD_MODE));
    }

    /** The longest header of an active message, in bytes. */
    public long maxActiveMessageHeader() throws UcxException {
        return query(UcpConstants.UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER)
                .get(ValueLayout.JAVA_LONG, UcpLayouts.WorkerAttr.MAX_AM_HEADER);
    }

    public String name() throws UcxException {
        return query(UcpConstants.UCP_WORKER_ATTR_FIELD_NAME).getString(UcpLayouts.WorkerAttr.NAME);
    }

    private MemorySegment query(long field) throws UcxException {
        MemorySegment attr = Arena.ofAuto().allocate(UcpLayouts.WorkerAttr.SIZE, Long.BYTES);
        attr.set(ValueLayout.JAVA_LONG, UcpLayouts.WorkerAttr.FIELD_MASK, field);
        UcpFunctions.check("Asking a worker for its attributes",
                UcpFunctions.Messages.WORKER_QUERY, address(), attr.address(), 0);
        return attr;
    }

    /**
     * Listens for connections.
     *
     * @param local with port 0 for a free one, see {@link UcpListener#localAddress()}
     * @throws UcxException {@link UcsStatus#ERR_BUSY} if the address is in use, {@link UcsStatus#ERR_IO_ERROR} if it
     *                      isn't this host's
     */
    public UcpListener listen(InetSocketAddress local, ConnectionHandler handler) throws UcxException {
        UcpListener listener = new UcpListener(this, local, handler);
        listeners.add(listener);
        return listener;
    }

    /** Creates an endpoint. */
    public UcpEndpoint createEndpoint(UcpEndpointParams params) throws UcxException {
        UcpEndpoint endpoint = new UcpEndpoint(this, params);
        endpoints.add(endpoint);
        return endpoint;
    }

    /**
     * Connects to a listener. UCX has no timeout for this; a refusal arrives at the error handler.
     *
     * @param local        where to connect from, or {@code null}
     * @param sendClientId whether to tell the listener this worker's client id
     * @param handler      see {@link UcpEndpointParams#errorHandler}
     */
    public UcpEndpoint connect(
            InetSocketAddress remote, InetSocketAddress local, boolean sendClientId, EndpointErrorHandler handler)
            throws UcxException {
        return createEndpoint(new UcpEndpointParams()
                .remoteAddress(remote)
                .localAddress(local)
                .sendClientId(sendClientId)
                .errorHandler(handler));
    }

    /**
     * Connects to a worker.
     *
     * @param workerAddress that worker's {@link #queryAddress()}
     * @param handler       see {@link UcpEndpointParams#errorHandler}
     */
    public UcpEndpoint connect(byte[] workerAddress, EndpointErrorHandler handler) throws UcxException {
        return createEndpoint(new UcpEndpointParams().workerAddress(workerAddress).errorHandler(handler));
    }

    /**
     * Accepts a connection request, which is used up even if this fails. The listener may be another worker's: see
     * {@link UcpConnectionRequest}.
     *
     * @param handler see {@link UcpEndpointParams#errorHandler}
     * @throws IllegalStateException if the request has been accepted or rejected before
     */
    public UcpEndpoint accept(UcpConnectionRequest request, EndpointErrorHandler handler) throws UcxException {
        return createEndpoint(new UcpEndpointParams().connectionRequest(request).errorHandler(handler));
    }

    /**
     * Destroys the worker with all that is left on it: listeners are closed and reject what is pending, endpoints are
     * closed as {@link UcpEndpoint#close()} does. Buffers of operations that have not completed may still be in use
     * by a peer: close the endpoints and progress until all requests are complete before calling this. Not to be
     * called by a handler.
     */
    @Override
    public void close() {
        if (address == 0) {
            return;
        }
        List.copyOf(listeners).forEach(UcpListener::close);
        List.copyOf(endpoints).forEach(UcpEndpoint::close);
        long destroyed = address;
        address = 0;
        try {
            UcpFunctions.call(UcpFunctions.Messages.WORKER_DESTROY, destroyed, 0, 0);
        } finally {
            for (long handler : activeMessageHandlers) {
                Upcalls.ActiveMessages.HANDLERS.unregister(handler);
            }
            context.released();
            Upcalls.release();
        }
    }

    void listenerClosed(UcpListener listener) {
        listeners.remove(listener);
    }

    void endpointClosed(UcpEndpoint endpoint) {
        endpoints.remove(endpoint);
    }

    /** Keeps an active message handler registered as long as the worker lives. */
    void handlerAdded(long id) {
        activeMessageHandlers.add(id);
    }
}
