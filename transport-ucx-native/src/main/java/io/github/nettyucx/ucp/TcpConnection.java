// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import io.github.nettyucx.library.UcxLibrary;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The TCP connection that a connection request has come over, at the server, inside UCX.
 *
 * <p>UCX's asynchronous thread is told of the events of up to 16 descriptors at a time. If another thread closes one of
 * them before it comes to its event, and a connection that it accepts meanwhile is given the number of the closed one, it
 * takes the event for the new connection's. One that the connection can be written to is fatal: the new connection is
 * marked as answered before it has been asked, and when its client speaks, a function is called that was never set
 * ({@code uct_cm_ep_server_conn_notify_cb}; UCX 1.16 to 1.22). Or, if the client has spoken before, it never gets an
 * answer, the event comes again and again, and the next one is in danger when this one is closed.
 *
 * <p>That can happen where UCX rejects, because it is told to or because it finds that it cannot serve the client: it
 * starts to wait for that event, writes the answer at once, and closes the connection. So UCX's thread is
 * {@linkplain #beforeReject made to forget} the connection before that, and has nothing to wait on; what it was told of
 * it before is no more than that there is something to read, which does no harm. It learns of the connection again when
 * that {@linkplain #afterAccept has been accepted}.
 *
 * <p>UCX has no call for any of this; the connection is found by the layout of {@code uct_tcp_sockcm_ep_t}, which is the
 * same in UCX 1.16 to 1.22. What does not look like one is left alone.
 */
final class TcpConnection {

    // struct ucp_conn_request
    private static final int TRANSPORT_LISTENER = 8;

    // struct ucp_worker, and ucs_async_context in it
    private static final int ASYNC_CONTEXT = 8;
    private static final int ASYNC_MODE = 40;

    // struct uct_tcp_sockcm_ep
    private static final int DESCRIPTOR = 48;
    private static final int STATE = 52;
    private static final int LISTENER = 56;
    private static final int NEXT = 64;
    private static final int PREVIOUS = 72;
    private static final int ON_SERVER = 1;
    private static final int CREATED = 1 << 2;
    private static final int HEADER_RECEIVED = 1 << 4;
    private static final int DATA_SENT = 1 << 5;
    private static final int DATA_RECEIVED = 1 << 6;
    private static final int FAILED = 1 << 13;
    private static final int REQUEST_GIVEN = 1 << 20;
    private static final int ASKED = ON_SERVER | DATA_RECEIVED | REQUEST_GIVEN;
    /** Of a connection that can have been asked for and neither accepted nor rejected. */
    private static final int POSSIBLE = ASKED | FAILED | HEADER_RECEIVED;

    // ucs_async_mode_t
    private static final int MODE_THREAD_SPINLOCK = 1;
    private static final int MODE_THREAD_MUTEX = 2;
    /** Handlers of this kind are known to UCX, and not to the kernel. */
    private static final int MODE_POLL = 3;

    // ucs_event_set_types_t
    private static final int READABLE = 1;
    private static final int WRITABLE = 1 << 1;

    /** UCX's thread needs some microseconds to wake up, unless it is at work on something else. */
    private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long PARK_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
    /** Of a machine so busy that the thread does not get to run: there are other connections to be served. */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final MethodHandle CONNECT = bind(Linker.nativeLinker().defaultLookup().findOrThrow("connect"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT));
    /** {@code ucs_async_remove_handler}; {@code null} if this UCX does not show it. */
    private static final MethodHandle REMOVE_HANDLER =
            bind(symbol("ucs_async_remove_handler"), FunctionDescriptor.of(JAVA_BYTE, JAVA_INT, JAVA_INT));
    /** {@code ucs_async_set_event_handler}, as above. */
    private static final MethodHandle SET_EVENT_HANDLER = bind(symbol("ucs_async_set_event_handler"),
            FunctionDescriptor.of(JAVA_BYTE, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MemorySegment NO_HANDLER = symbol("ucs_empty_function");
    private static final MemorySegment HANDLER = symbol("uct_tcp_sa_data_handler");
    private static final boolean USABLE =
            REMOVE_HANDLER != null && SET_EVENT_HANDLER != null && NO_HANDLER != null && HANDLER != null;

    /** All zeros: {@code AF_UNSPEC}. */
    private static final MemorySegment NOBODY = Arena.global().allocate(UcpLayouts.SockAddrIn.SIZE, Long.BYTES);

    private final long address;
    private final int descriptor;
    /** Whether UCX's thread is to learn of it again. */
    private boolean forgotten;

    private TcpConnection(long address) {
        this.address = address;
        descriptor = NativeMemory.getInt(address + DESCRIPTOR);
    }

    private static MemorySegment symbol(String name) {
        return UcxLibrary.load().symbols().find(name).orElse(null);
    }

    private static MethodHandle bind(MemorySegment function, FunctionDescriptor type) {
        return function == null ? null : Linker.nativeLinker().downcallHandle(function, type);
    }

    /** Has the class loaded, so that nothing can fail any more when there is a listener. */
    static void prepare() {
    }

    /**
     * The connection of a request that has been neither accepted nor rejected.
     *
     * @param request    a {@code ucp_conn_request_h}
     * @param connection see {@link ConnectMessage#connectionOf}
     * @return {@code null} if it is not known
     */
    static TcpConnection of(long request, long connection) {
        if (connection == 0
                || NativeMemory.getLong(connection + LISTENER) != NativeMemory.getLong(request + TRANSPORT_LISTENER)) {
            return null;
        }
        int state = NativeMemory.getInt(connection + STATE);
        return (state & ASKED) == ASKED && (state & ~POSSIBLE) == 0 ? new TcpConnection(connection) : null;
    }

    /**
     * A message to connect has just come over a connection, see {@link TcpListener}. To be called on UCX's asynchronous
     * thread.
     *
     * @return whether it is the first, and UCP may have it; if it is not, the connection has been reset
     */
    static boolean admitMessage(long connection, long listener) {
        if (NativeMemory.getLong(connection + LISTENER) != listener) {
            return true;
        }
        long link = connection + NEXT;
        if (NativeMemory.getLong(connection + NEXT) == link) {
            new TcpConnection(connection).reset();
            return false;
        }
        NativeMemory.putLong(connection + NEXT, link);
        NativeMemory.putLong(connection + PREVIOUS, link);
        return true;
    }

    private void reset() {
        try {
            // Fails if the client was faster, which is as good.
            int ignored = (int) CONNECT.invokeExact(descriptor, NOBODY.address(), UcpLayouts.SockAddrIn.SIZE);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /**
     * Has UCX's thread forget the connection, which UCX is going to close.
     *
     * @param reset whether it is reset as well
     */
    void beforeReject(boolean reset) {
        forget();
        if (reset) {
            reset();
        }
    }

    /**
     * Has UCX's thread forget the connection until it has been accepted, for UCX may find that it must reject it.
     *
     * @param listening where the request has come from
     * @param accepting where it is to be accepted
     */
    void beforeAccept(UcpWorker listening, UcpWorker accepting) {
        forgotten = (listening != accepting || isKnown(accepting)) && forget();
        if (forgotten) {
            // UCX gives up where there is no handler to be moved to the other worker.
            handle(MODE_POLL, 0, NO_HANDLER, 0, 0);
        }
    }

    /**
     * Has UCX's thread go on with the connection, which has been accepted, and waits until that has written the answer.
     * To be called before progress is: that might find that the client cannot be reached, and close the connection.
     */
    void afterAccept(UcpWorker listening, UcpWorker accepting) {
        // Else UCX itself has seen to it.
        if (forgotten && listening == accepting && (state() & (CREATED | FAILED)) == CREATED) {
            forget();
            long context = accepting.address() + ASYNC_CONTEXT;
            handle(NativeMemory.getInt(context + ASYNC_MODE), READABLE | WRITABLE, HANDLER, address, context);
        }
        awaitAnswer();
    }

    private static boolean isKnown(UcpWorker worker) {
        int mode = NativeMemory.getInt(worker.address() + ASYNC_CONTEXT + ASYNC_MODE);
        return mode == MODE_THREAD_SPINLOCK || mode == MODE_THREAD_MUTEX;
    }

    /** @return whether it was known to UCX's thread; if that was at work on the connection, it is no more */
    private boolean forget() {
        if (!USABLE) {
            return false;
        }
        try {
            return (byte) REMOVE_HANDLER.invokeExact(descriptor, 1) == UcsStatus.OK;
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    private void handle(int mode, int events, MemorySegment function, long argument, long context) {
        try {
            // If it fails there is no memory: the client is rejected, or gets no answer and is closed for saying no more.
            int ignored = (byte) SET_EVENT_HANDLER.invokeExact(
                    mode, descriptor, events, function.address(), argument, context);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    private void awaitAnswer() {
        long start = System.nanoTime();
        for (int state = state(); (state & CREATED) != 0 && (state & (DATA_SENT | FAILED)) == 0; state = state()) {
            long waited = System.nanoTime() - start;
            if (waited > PATIENCE_NANOS) {
                return;
            } else if (waited < SPIN_NANOS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PARK_NANOS);
            }
        }
    }

    private int state() {
        return NativeMemory.getIntAcquire(address + STATE);
    }
}
