// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.nettyucx.library.UcxLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The functions of {@code ucp/api/ucp.h}.
 *
 * <p>Pointers, handles and {@code size_t} are {@code long}, so that a call allocates nothing. {@code ucs_status_t}
 * is one signed byte, as the header packs the enum. Callers pass a {@code long} for each argument of
 * the shape, 0 for those that the function has not, and cast the {@code long} that they get to its type.
 *
 * <p>Calls are ordinary unless they are {@link Critical}. A critical call keeps its thread "in Java": it is some
 * nanoseconds cheaper, but it must not call back, and as the garbage collector waits for it, it must neither run
 * long nor wait for a lock whose holder may itself be stopped by the garbage collector, in an upcall say. Workers have
 * such a lock in thread mode {@code MULTI}, and that's why {@link UcpWorkerParams#threadMode} refuses that mode.
 */
final class UcpFunctions {

    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup SYMBOLS = UcxLibrary.load().symbols();

    /*
     * All calls are of few shapes, whatever the functions take and return: the virtual machine makes classes for each
     * shape, which is much of what a process spends before its first connection. Integers and pointers travel in
     * registers of 64 bits, of which a function looks at the bits of its own type, and at its own arguments only; who
     * calls takes of the result the bits that its type has (System V ABI for AMD64, 3.2.3; AAPCS64, 6.8.2).
     */
    private static final FunctionDescriptor THREE =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor SIX = THREE.appendArgumentLayouts(JAVA_LONG, JAVA_LONG, JAVA_LONG);

    // A shape, for the functions that are bound to it, is what takes the function's address first.
    static final MethodHandle SHORT = LINKER.downcallHandle(THREE);
    private static final MethodHandle LONG = LINKER.downcallHandle(SIX);

    // Library, configuration, context. What else there is is bound when it is needed, each kind for itself: before its
    // first connection a process waits for the context.
    static final MethodHandle GET_VERSION = bind("ucp_get_version", SHORT);
    static final MethodHandle GET_VERSION_STRING = bind("ucp_get_version_string", SHORT);
    static final MethodHandle LIB_QUERY = bind("ucp_lib_query", SHORT);
    static final MethodHandle CONFIG_READ = bind("ucp_config_read", SHORT);
    static final MethodHandle CONFIG_MODIFY = bind("ucp_config_modify", SHORT);
    static final MethodHandle CONFIG_RELEASE = bind("ucp_config_release", SHORT);
    /** {@code ucp_init} is an inline function around this one. */
    static final MethodHandle INIT_VERSION = bind("ucp_init_version", LONG);
    static final MethodHandle CLEANUP = bind("ucp_cleanup", SHORT);
    static final MethodHandle CONTEXT_QUERY = bind("ucp_context_query", SHORT);
    static final MethodHandle CONTEXT_PRINT_INFO = bind("ucp_context_print_info", SHORT);

    /** Calls that keep their thread "in Java". */
    private static final class Critical {
        private static final Linker.Option OPTION = Linker.Option.critical(false);

        static final MethodHandle SHORT = LINKER.downcallHandle(THREE, OPTION);
        static final MethodHandle LONG = LINKER.downcallHandle(SIX, OPTION);
    }

    /** Workers, and endpoints with tagged messages. */
    static final class Messages {
        static final MethodHandle WORKER_CREATE = bind("ucp_worker_create", SHORT);
        static final MethodHandle WORKER_DESTROY = bind("ucp_worker_destroy", SHORT);
        static final MethodHandle WORKER_QUERY = bind("ucp_worker_query", SHORT);
        static final MethodHandle WORKER_RELEASE_ADDRESS = bind("ucp_worker_release_address", SHORT);
        static final MethodHandle WORKER_PROGRESS = bind("ucp_worker_progress", SHORT);
        static final MethodHandle WORKER_ARM = bind("ucp_worker_arm", SHORT);
        static final MethodHandle WORKER_SIGNAL = bind("ucp_worker_signal", SHORT);
        static final MethodHandle WORKER_GET_EFD = bind("ucp_worker_get_efd", SHORT);
        static final MethodHandle WORKER_FENCE = bind("ucp_worker_fence", SHORT);
        static final MethodHandle WORKER_FLUSH_NBX = bind("ucp_worker_flush_nbx", SHORT);

        static final MethodHandle EP_CREATE = bind("ucp_ep_create", SHORT);
        static final MethodHandle EP_CLOSE_NBX = bind("ucp_ep_close_nbx", SHORT);
        static final MethodHandle EP_FLUSH_NBX = bind("ucp_ep_flush_nbx", SHORT);
        static final MethodHandle EP_QUERY = bind("ucp_ep_query", SHORT);

        static final MethodHandle TAG_SEND_NBX = bind("ucp_tag_send_nbx", LONG);
        static final MethodHandle TAG_SEND_SYNC_NBX = bind("ucp_tag_send_sync_nbx", LONG);
        static final MethodHandle TAG_RECV_NBX = bind("ucp_tag_recv_nbx", LONG);
        /** Searches a list, which may be a long one. */
        static final MethodHandle TAG_PROBE_NB = bind("ucp_tag_probe_nb", LONG);
        /** For tag mask 0 only. Critical: takes the head of a list and describes it. */
        static final MethodHandle TAG_PROBE_ANY_NB = bind("ucp_tag_probe_nb", Critical.LONG);
        static final MethodHandle TAG_MSG_RECV_NBX = bind("ucp_tag_msg_recv_nbx", LONG);

        /** Critical: reads two fields of the request, takes no lock, calls nothing. */
        static final MethodHandle REQUEST_CHECK_STATUS = bind("ucp_request_check_status", Critical.SHORT);
        /** Critical for the same reason, and writes one tag info. */
        static final MethodHandle TAG_RECV_REQUEST_TEST = bind("ucp_tag_recv_request_test", Critical.SHORT);
        /** Critical: pushes the request on a free list, or marks it. */
        static final MethodHandle REQUEST_FREE = bind("ucp_request_free", Critical.SHORT);
        static final MethodHandle REQUEST_CANCEL = bind("ucp_request_cancel", SHORT);

        /** Does nothing but have this class initialized. */
        static void prepare() {
        }
    }

    static final class Statuses {
        /** Neither calls back nor blocks, but stays an ordinary call: nothing on the hot path asks for a text. */
        static final MethodHandle STATUS_STRING = bind("ucs_status_string", SHORT);
    }

    /** Listeners and connection requests. */
    static final class Listeners {
        static final MethodHandle LISTENER_CREATE = bind("ucp_listener_create", SHORT);
        static final MethodHandle LISTENER_DESTROY = bind("ucp_listener_destroy", SHORT);
        static final MethodHandle LISTENER_QUERY = bind("ucp_listener_query", SHORT);
        static final MethodHandle LISTENER_REJECT = bind("ucp_listener_reject", SHORT);
        static final MethodHandle CONN_REQUEST_QUERY = bind("ucp_conn_request_query", SHORT);
    }

    static final class Streams {
        static final MethodHandle STREAM_SEND_NBX = bind("ucp_stream_send_nbx", LONG);
        static final MethodHandle STREAM_RECV_NBX = bind("ucp_stream_recv_nbx", LONG);
        static final MethodHandle STREAM_RECV_DATA_NB = bind("ucp_stream_recv_data_nb", SHORT);
        static final MethodHandle STREAM_DATA_RELEASE = bind("ucp_stream_data_release", SHORT);
        static final MethodHandle STREAM_WORKER_POLL = bind("ucp_stream_worker_poll", LONG);
        /** Critical: reads two fields of the request, takes no lock, calls nothing, and writes one length. */
        static final MethodHandle STREAM_RECV_REQUEST_TEST = bind("ucp_stream_recv_request_test", Critical.SHORT);
    }

    static final class ActiveMessages {
        static final MethodHandle WORKER_SET_AM_RECV_HANDLER = bind("ucp_worker_set_am_recv_handler", SHORT);
        static final MethodHandle AM_RECV_DATA_NBX = bind("ucp_am_recv_data_nbx", LONG);
        static final MethodHandle AM_DATA_RELEASE = bind("ucp_am_data_release", SHORT);
    }

    /** Memory, remote keys, one-sided operations. */
    static final class Memory {
        static final MethodHandle MEM_MAP = bind("ucp_mem_map", SHORT);
        static final MethodHandle MEM_UNMAP = bind("ucp_mem_unmap", SHORT);
        static final MethodHandle MEM_QUERY = bind("ucp_mem_query", SHORT);
        static final MethodHandle RKEY_PACK = bind("ucp_rkey_pack", LONG);
        static final MethodHandle RKEY_BUFFER_RELEASE = bind("ucp_rkey_buffer_release", SHORT);
        static final MethodHandle EP_RKEY_UNPACK = bind("ucp_ep_rkey_unpack", SHORT);
        static final MethodHandle RKEY_PTR = bind("ucp_rkey_ptr", SHORT);
        static final MethodHandle RKEY_DESTROY = bind("ucp_rkey_destroy", SHORT);
        static final MethodHandle PUT_NBX = bind("ucp_put_nbx", LONG);
        static final MethodHandle GET_NBX = bind("ucp_get_nbx", LONG);
    }

    /** Those with more arguments than the others. */
    static final class Longest {
        private static final MethodHandle SHAPE = LINKER.downcallHandle(SIX.appendArgumentLayouts(JAVA_LONG));

        static final MethodHandle AM_SEND_NBX = bind("ucp_am_send_nbx", SHAPE);
        static final MethodHandle ATOMIC_OP_NBX = bind("ucp_atomic_op_nbx", SHAPE);
    }

    private UcpFunctions() {
    }

    static MethodHandle bind(String name, MethodHandle shape) {
        Optional<MemorySegment> symbol = SYMBOLS.find(name);
        if (symbol.isEmpty()) {
            throw new UnsatisfiedLinkError("The UCX library " + UcxLibrary.load().path() + " has no " + name);
        }
        return shape.bindTo(symbol.get());
    }

    /**
     * A call that happens once for an object. What is called for each message calls its handle itself: a constant
     * handle is compiled into its caller.
     */
    static long call(MethodHandle function, long first, long second, long third) {
        try {
            return (long) function.invokeExact(first, second, third);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /** The same with six arguments. */
    static long call(MethodHandle function,
            long first, long second, long third, long fourth, long fifth, long sixth) {
        try {
            return (long) function.invokeExact(first, second, third, fourth, fifth, sixth);
        } catch (Throwable e) {
            throw rethrow(e);
        }
    }

    /**
     * Makes such a call to a function that returns a status, and throws if that is an error.
     *
     * @param what what is tried, as for {@link UcsStatus#check}
     */
    static void check(String what, MethodHandle function, long first, long second, long third) throws UcxException {
        UcsStatus.check(what, (byte) call(function, first, second, third));
    }

    /**
     * As {@link #check}, for calls in which UCX reads settings: these have a decimal point, whatever the user's locale has.
     * The call must not need its thread, see {@link UcxLibrary#withNumericLocaleC}.
     */
    static void checkReading(String what, MethodHandle function, long first, long second, long third)
            throws UcxException {
        checkReading(what, new Supplier<>() {
            @Override
            public Long get() {
                return call(function, first, second, third);
            }
        });
    }

    /** The same for any call. */
    static void checkReading(String what, Supplier<Long> call) throws UcxException {
        UcsStatus.check(what, (byte) (long) UcxLibrary.withNumericLocaleC(call));
    }

    /**
     * For the {@code catch (Throwable)} that {@code invokeExact} forces upon its callers: a downcall has nothing of
     * its own to throw, so what arrives here is an unchecked exception or error of the virtual machine.
     */
    static RuntimeException rethrow(Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        if (cause instanceof RuntimeException exception) {
            throw exception;
        }
        throw new AssertionError("a downcall threw a checked exception", cause);
    }
}
