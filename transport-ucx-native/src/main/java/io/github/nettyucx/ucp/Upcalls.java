// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/**
 * The functions that UCX calls. There is one stub of each kind for the process, and a late call never meets freed code; the
 * {@code user_data} says who is meant. An exception must not reach C, where it would end the process.
 * <p>
 * The virtual machine keeps what a stub calls, and with it this class, its class loader and all that goes with that. So
 * the stub that every endpoint has goes when nobody uses UCX any more, and is made again when somebody does. Those of
 * listeners and of active messages last as long as the process.
 */
final class Upcalls {

    static final UpcallRegistry<UcpEndpoint> ENDPOINTS = new UpcallRegistry<>();

    /** Whether this is a native image: it has no class loaders, and may have been built without arenas that can be shared. */
    private static final boolean IN_IMAGE = System.getProperty("org.graalvm.nativeimage.imagecode") != null;

    /** Of the stub of endpoints; {@code null} if there is none, or it stays. Guarded by the class, as all that changes in here. */
    private static Arena arena;
    private static volatile long endpointError;
    private static int users;

    // Each stub has a shape of its own, which takes some milliseconds to make. So what few processes need is made by its
    // first use.

    static final class Listeners {
        static final UpcallRegistry<UcpListener> REGISTERED = new UpcallRegistry<>();

        /** {@code ucp_listener_conn_callback_t}. */
        static final long CONNECTION_REQUEST =
                stub("connectionRequest", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG), Arena.global());
    }

    static final class ActiveMessages {
        static final UpcallRegistry<ActiveMessageHandler> HANDLERS = new UpcallRegistry<>();

        /** {@code ucp_am_recv_callback_t}. */
        static final long RECEIVED = stub("activeMessage", FunctionDescriptor.of(
                JAVA_BYTE, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG), Arena.global());
    }

    private Upcalls() {
    }

    /**
     * {@code ucp_err_handler_cb_t}; of the last argument the lowest byte is the status. For endpoints of a worker, which is
     * a {@linkplain #retain() user}.
     */
    static long endpointError() {
        long made = endpointError;
        return made != 0 ? made : makeEndpointError();
    }

    private static synchronized long makeEndpointError() {
        if (endpointError == 0) {
            arena = IN_IMAGE ? null : Arena.ofShared();
            endpointError = stub("endpointError", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG),
                    IN_IMAGE ? Arena.global() : arena);
        }
        return endpointError;
    }

    /** Somebody has a worker, or is going to. Any thread may call. */
    static synchronized void retain() {
        users++;
    }

    /** His worker has been destroyed: on its account UCX calls nobody any more. Any thread may call. */
    static synchronized void release() {
        users--;
        if (users == 0 && arena != null) {
            endpointError = 0;
            arena.close();
            arena = null;
        }
    }

    private static void endpointError(long id, long address, long status) {
        try {
            UcpEndpoint endpoint = ENDPOINTS.get(id);
            if (endpoint != null) {
                endpoint.failed(address, (byte) status);
            }
        } catch (Throwable e) {
            log("An endpoint's error handler failed", e);
        }
    }

    private static void connectionRequest(long request, long id) {
        try {
            UcpListener listener = Listeners.REGISTERED.get(id);
            if (listener != null) {
                listener.requested(request);
            }
        } catch (Throwable e) {
            log("A listener's connection handler failed", e);
        }
    }

    private static byte activeMessage(long id, long header, long headerLength, long data, long length, long param) {
        try {
            ActiveMessageHandler handler = ActiveMessages.HANDLERS.get(id);
            if (handler != null) {
                return (byte) handler.onMessage(header, headerLength, data, length, param);
            }
        } catch (Throwable e) {
            log("An active message handler failed", e);
        }
        return UcsStatus.OK;
    }

    private static void log(String message, Throwable cause) {
        try {
            // Not before: the first logger has the JDK make its logging ready.
            System.getLogger(Upcalls.class.getPackageName()).log(Level.ERROR, message, cause);
        } catch (Throwable e) {
            // The logger is somebody's code as well, and there is nobody left to tell.
        }
    }

    private static long stub(String method, FunctionDescriptor descriptor, Arena lifetime) {
        try {
            MethodHandle target =
                    MethodHandles.lookup().findStatic(Upcalls.class, method, descriptor.toMethodType());
            return Linker.nativeLinker().upcallStub(target, descriptor, lifetime).address();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
