// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;

/**
 * A client that is to be turned away, and its TCP connection inside UCX: reset first, then rejected. Only for the
 * thread of the listener's worker.
 *
 * <p>{@code ucp_listener_reject} alone is dangerous where many strangers come. It has UCX's asynchronous thread wait
 * until the socket can be written to, writes at once, and closes the socket. If that thread has been told meanwhile that
 * the socket can be written to, but first accepts another connection, which is given the number of the closed one, it
 * takes the event for the new connection's, marks that as answered, and calls a function that was never set when its
 * client speaks ({@code uct_cm_ep_server_conn_notify_cb}; UCX 1.16 to 1.22). A connection that has been reset is
 * noticed by the asynchronous thread, which then waits for nothing of it any more; only after that is it rejected,
 * which no more than gives it back.
 *
 * <p>UCX has no call for that; the socket is found by the layout of {@code uct_tcp_sockcm_ep_t}, which is the same in UCX
 * 1.16 to 1.22. What does not look like one is left alone.
 */
final class TcpClient {

    // struct ucp_conn_request
    private static final int TRANSPORT_LISTENER = 8;
    private static final int TRANSPORT_REQUEST = 16;

    // struct uct_tcp_sockcm_ep
    private static final int DESCRIPTOR = 48;
    private static final int STATE = 52;
    private static final int LISTENER = 56;
    private static final int ON_SERVER = 1;
    private static final int HEADER_RECEIVED = 1 << 4;
    private static final int DATA_RECEIVED = 1 << 6;
    private static final int FAILED = 1 << 13;
    private static final int REQUEST_GIVEN = 1 << 20;
    private static final int ASKED = ON_SERVER | DATA_RECEIVED | REQUEST_GIVEN;
    /** Of a connection that can have been asked for and neither accepted nor rejected. */
    private static final int POSSIBLE = ASKED | FAILED | HEADER_RECEIVED;

    /** If UCX has not noticed by then, the client is rejected all the same. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final MethodHandle CONNECT = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().findOrThrow("connect"),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT));
    /** All zeros: {@code AF_UNSPEC}. */
    private static final MemorySegment NOBODY = Arena.global().allocate(UcpLayouts.SockAddrIn.SIZE, Long.BYTES);

    private final long request;
    private final long connection;
    private final long resetNanos = System.nanoTime();

    private TcpClient(long request, long connection) {
        this.request = request;
        this.connection = connection;
    }

    /**
     * Resets the connection of a request that has been neither accepted nor rejected.
     *
     * @return {@code null} if that is not possible
     */
    static TcpClient reset(long request, long listener) {
        long connection = ConnectMessage.connectionOf(request, listener);
        if (connection == 0
                || NativeMemory.getLong(connection + LISTENER) != NativeMemory.getLong(request + TRANSPORT_LISTENER)) {
            return null;
        }
        int state = NativeMemory.getInt(connection + STATE);
        if ((state & ASKED) != ASKED || (state & ~POSSIBLE) != 0) {
            return null;
        }
        try {
            // Fails if the client was faster, which is as good.
            int ignored = (int) CONNECT.invokeExact(NativeMemory.getInt(connection + DESCRIPTOR), NOBODY.address(),
                    UcpLayouts.SockAddrIn.SIZE);
        } catch (Throwable e) {
            throw UcpFunctions.rethrow(e);
        }
        return new TcpClient(request, connection);
    }

    /** Whether it is to be rejected now: UCX has noticed that the connection is gone, or has had the time to. */
    boolean isGone() {
        return (NativeMemory.getInt(connection + STATE) & FAILED) != 0
                || System.nanoTime() - resetNanos > PATIENCE_NANOS;
    }

    /** The {@code ucp_conn_request_h}. */
    long request() {
        return request;
    }
}
