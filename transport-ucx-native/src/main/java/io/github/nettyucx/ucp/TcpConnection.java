// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

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
 * starts to wait for that event, writes the answer at once, and closes the connection. So those who are turned away are
 * {@linkplain TcpClient reset first}, and the numbers of the others are {@linkplain #occupyNumber() taken} for a moment.
 *
 * <p>UCX has no call for any of this; the connection is found by the layout of {@code uct_tcp_sockcm_ep_t}, which is the
 * same in UCX 1.16 to 1.22. What does not look like one is left alone.
 */
final class TcpConnection {

    // struct ucp_conn_request
    private static final int TRANSPORT_LISTENER = 8;

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

    /** UCX's thread needs some microseconds to wake up, unless it is at work on something else. */
    private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long PARK_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
    /** Of a machine so busy that the thread does not get to run: there are other connections to be served. */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** UCX's thread needs some milliseconds at most for the events that it has been told of. */
    private static final long OCCUPIED_MILLIS = 100;
    /** They are descriptors that nobody else can have. */
    private static final int MOST_OCCUPIED = 16;

    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM_CLOEXEC = 0x80001;
    private static final MethodHandle CONNECT = bind("connect",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle SOCKET = bind("socket",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle FCNTL = bind("fcntl",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle CLOSE = bind("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    /** All zeros: {@code AF_UNSPEC}. */
    private static final MemorySegment NOBODY = Arena.global().allocate(UcpLayouts.SockAddrIn.SIZE, Long.BYTES);
    /** A socket that is never connected. */
    private static final int IDLE = newSocket();
    private static final AtomicInteger OCCUPIED = new AtomicInteger();

    private final long address;
    private final int descriptor;

    private TcpConnection(long address) {
        this.address = address;
        descriptor = NativeMemory.getInt(address + DESCRIPTOR);
    }

    private static MethodHandle bind(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type, options);
    }

    /** Has the class loaded, and with it made what is needed later, when there may be no descriptors left. */
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

    /** Resets it. UCX notices. */
    void reset() {
        try {
            // Fails if the client was faster, which is as good.
            int ignored = (int) CONNECT.invokeExact(descriptor, NOBODY.address(), UcpLayouts.SockAddrIn.SIZE);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    /** Whether UCX has noticed that it is gone, and waits for nothing of it any more. */
    boolean hasFailed() {
        return (state() & FAILED) != 0;
    }

    /**
     * Waits until UCX's thread has written the answer of a connection that has just been accepted. To be called before
     * progress is: that might find that the client cannot be reached, and close the connection.
     */
    void awaitAnswer() {
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

    /**
     * Takes the number of the descriptor, which UCX has just closed, so that no connection is given it until UCX's thread
     * has forgotten it. If somebody was faster, or UCX has not closed it yet, nothing happens; nor if there are too many.
     */
    void occupyNumber() {
        if (OCCUPIED.incrementAndGet() > MOST_OCCUPIED) {
            OCCUPIED.decrementAndGet();
            return;
        }
        try {
            // The lowest that is free, from that number on.
            int taken = (int) FCNTL.invokeExact(IDLE, F_DUPFD_CLOEXEC, descriptor);
            if (taken == descriptor) {
                CompletableFuture.delayedExecutor(OCCUPIED_MILLIS, TimeUnit.MILLISECONDS).execute(() -> giveBack(taken));
            } else if (taken >= 0) {
                giveBack(taken);
            } else {
                OCCUPIED.decrementAndGet();
            }
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    private static void giveBack(int taken) {
        try {
            int ignored = (int) CLOSE.invokeExact(taken);
            OCCUPIED.decrementAndGet();
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }

    private static int newSocket() {
        try {
            return (int) SOCKET.invokeExact(AF_UNIX, SOCK_STREAM_CLOEXEC, 0);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
    }
}
