// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.nettyucx.library.UcxLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The TCP part of a listener, inside UCX, where a client's message to connect arrives.
 *
 * <p>UCX takes a connection off the list of those that have sent no such message when one comes, and once more when the
 * client sends another before it has been accepted, with neighbours that may have been freed by then: what is written to
 * them goes to whatever has got their memory ({@code uct_tcp_sockcm_ep_server_invoke_conn_req_cb}, UCX 1.16 to 1.22). And
 * it makes two requests of the one connection; to accept or reject both is a use of freed memory. Both is too late when
 * {@link UcpListener} learns of the second request. So this stands between that function and the one that it calls for
 * each message. With the first it makes the connection its own neighbour, so that it can be taken off as often as may be;
 * if it is that already, the message is another one: it goes no further, and the connection is reset.
 *
 * <p>That is an upcall on UCX's asynchronous thread, one for each connection. UCX has no call for any of this; the place
 * is found by the layouts of {@code ucp_listener_t} and {@code uct_tcp_listener_t}, which are the same in UCX 1.16 to 1.22.
 * What does not look like them is left alone.
 */
final class TcpListener {

    // struct ucp_listener
    private static final int WORKER = 0;
    private static final int LISTENERS = 8;
    private static final int COUNT = 144;
    private static final int COUNT_MASK = 0xff;
    /** One for each of UCX's ways to connect: TCP and InfiniBand's. */
    private static final int MOST = 8;

    // struct uct_tcp_listener
    private static final int CALLBACK = 24;
    private static final int ARGUMENT = 32;

    // struct uct_cm_listener_conn_request_args
    private static final int CONNECTION = 40;

    private static final FunctionDescriptor TYPE = FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG);
    /** What UCX calls for each message: the address of UCP's function, or 0 if this UCX has none of that name. */
    private static final long NEXT = UcxLibrary.load().symbols().find("ucp_cm_server_conn_request_cb")
            .map(MemorySegment::address).orElse(0L);
    private static final MethodHandle CALL_NEXT =
            NEXT == 0 ? null : Linker.nativeLinker().downcallHandle(MemorySegment.ofAddress(NEXT), TYPE);

    /** By the address of the {@code ucp_listener_t}. */
    private static final Map<Long, ConnectionHandler> HANDLERS = new ConcurrentHashMap<>();

    private TcpListener() {
    }

    /** Has the class loaded, so that nothing can fail any more when there is a listener. */
    static void prepare() {
    }

    /** To be called as soon as it has been created. */
    static void watch(long listener, long worker, ConnectionHandler handler) {
        HANDLERS.put(listener, handler);
        int count = NativeMemory.getInt(listener + COUNT) & COUNT_MASK;
        if (NEXT == 0 || NativeMemory.getLong(listener + WORKER) != worker || count > MOST) {
            return;
        }
        long transports = NativeMemory.getLong(listener + LISTENERS);
        for (int i = 0; i < count; i++) {
            long transport = NativeMemory.getLong(transports + (long) i * Long.BYTES);
            if (NativeMemory.getLong(transport + CALLBACK) == NEXT
                    && NativeMemory.getLong(transport + ARGUMENT) == listener) {
                NativeMemory.putLongRelease(transport + CALLBACK, Upcalls.CONNECT_MESSAGE);
            }
        }
    }

    /** Before it is destroyed: another one may have the address then. */
    static void unwatch(long listener) {
        HANDLERS.remove(listener);
    }

    /** The upcall, on UCX's asynchronous thread, which holds the lock of the listener's worker. */
    static void received(long transport, long listener, long arguments) throws Throwable {
        if (TcpConnection.admitMessage(NativeMemory.getLong(arguments + CONNECTION), transport)) {
            CALL_NEXT.invokeExact(transport, listener, arguments);
            return;
        }
        ConnectionHandler handler = HANDLERS.get(listener);
        if (handler != null) {
            handler.onRepeatedMessage();
        }
    }
}
