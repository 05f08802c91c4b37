// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.nettyucx.library.UcxLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * The functions of {@code ucp/api/ucp.h}.
 *
 * <p>Pointers, handles and {@code size_t} are {@code long}, so that a call allocates nothing. {@code ucs_status_t}
 * is one signed byte, as the header packs the enum. Callers use {@code invokeExact}: the casts at the call site
 * must match the descriptor to the letter.
 *
 * <p>Calls are ordinary unless marked {@link #CRITICAL}. A critical call keeps its thread "in Java": it is some
 * nanoseconds cheaper, but it must not call back, and as the garbage collector waits for it, it must neither run
 * long nor wait for a lock whose holder may itself be stopped by the garbage collector, in an upcall say. Workers have
 * such a lock in thread mode {@code MULTI}, and that's why {@link UcpWorkerParams#threadMode} refuses that mode.
 */
final class UcpFunctions {

    private static final Linker.Option CRITICAL = Linker.Option.critical(false);
    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup SYMBOLS = UcxLibrary.load().symbols();

    // Library, configuration, context
    static final MethodHandle GET_VERSION = bindVoid("ucp_get_version", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle GET_VERSION_STRING =
            bind("ucp_get_version_string", FunctionDescriptor.of(JAVA_LONG));
    static final MethodHandle LIB_QUERY = bindStatus("ucp_lib_query", JAVA_LONG);
    static final MethodHandle CONFIG_READ = bindStatus("ucp_config_read", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle CONFIG_MODIFY = bindStatus("ucp_config_modify", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle CONFIG_RELEASE = bindVoid("ucp_config_release", JAVA_LONG);
    /** {@code ucp_init} is an inline function around this one. */
    static final MethodHandle INIT_VERSION =
            bindStatus("ucp_init_version", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle CLEANUP = bindVoid("ucp_cleanup", JAVA_LONG);
    static final MethodHandle CONTEXT_QUERY = bindStatus("ucp_context_query", JAVA_LONG, JAVA_LONG);
    static final MethodHandle CONTEXT_PRINT_INFO = bindVoid("ucp_context_print_info", JAVA_LONG, JAVA_LONG);

    // Worker
    static final MethodHandle WORKER_CREATE = bindStatus("ucp_worker_create", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle WORKER_DESTROY = bindVoid("ucp_worker_destroy", JAVA_LONG);
    static final MethodHandle WORKER_QUERY = bindStatus("ucp_worker_query", JAVA_LONG, JAVA_LONG);
    static final MethodHandle WORKER_RELEASE_ADDRESS =
            bindVoid("ucp_worker_release_address", JAVA_LONG, JAVA_LONG);
    static final MethodHandle WORKER_PROGRESS =
            bind("ucp_worker_progress", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    static final MethodHandle WORKER_ARM = bindStatus("ucp_worker_arm", JAVA_LONG);
    static final MethodHandle WORKER_SIGNAL = bindStatus("ucp_worker_signal", JAVA_LONG);
    static final MethodHandle WORKER_GET_EFD = bindStatus("ucp_worker_get_efd", JAVA_LONG, JAVA_LONG);
    static final MethodHandle WORKER_FENCE = bindStatus("ucp_worker_fence", JAVA_LONG);
    static final MethodHandle WORKER_FLUSH_NBX = bindStatusPointer("ucp_worker_flush_nbx", JAVA_LONG, JAVA_LONG);

    // Listener and connection request
    static final MethodHandle LISTENER_CREATE =
            bindStatus("ucp_listener_create", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle LISTENER_DESTROY = bindVoid("ucp_listener_destroy", JAVA_LONG);
    static final MethodHandle LISTENER_QUERY = bindStatus("ucp_listener_query", JAVA_LONG, JAVA_LONG);
    static final MethodHandle LISTENER_REJECT = bindStatus("ucp_listener_reject", JAVA_LONG, JAVA_LONG);
    static final MethodHandle CONN_REQUEST_QUERY = bindStatus("ucp_conn_request_query", JAVA_LONG, JAVA_LONG);

    // Endpoint
    static final MethodHandle EP_CREATE = bindStatus("ucp_ep_create", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle EP_CLOSE_NBX = bindStatusPointer("ucp_ep_close_nbx", JAVA_LONG, JAVA_LONG);
    static final MethodHandle EP_FLUSH_NBX = bindStatusPointer("ucp_ep_flush_nbx", JAVA_LONG, JAVA_LONG);
    static final MethodHandle EP_QUERY = bindStatus("ucp_ep_query", JAVA_LONG, JAVA_LONG);
    static final MethodHandle EP_RKEY_UNPACK = bindStatus("ucp_ep_rkey_unpack", JAVA_LONG, JAVA_LONG, JAVA_LONG);

    // Tag matching
    static final MethodHandle TAG_SEND_NBX =
            bindStatusPointer("ucp_tag_send_nbx", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle TAG_SEND_SYNC_NBX =
            bindStatusPointer("ucp_tag_send_sync_nbx", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle TAG_RECV_NBX = bindStatusPointer("ucp_tag_recv_nbx",
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    /** Searches a list, which may be a long one. */
    static final MethodHandle TAG_PROBE_NB = bind("ucp_tag_probe_nb",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
    /** For tag mask 0 only. Critical: takes the head of a list and describes it. */
    static final MethodHandle TAG_PROBE_ANY_NB = bind("ucp_tag_probe_nb",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG), CRITICAL);
    static final MethodHandle TAG_MSG_RECV_NBX =
            bindStatusPointer("ucp_tag_msg_recv_nbx", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    // Stream
    static final MethodHandle STREAM_SEND_NBX =
            bindStatusPointer("ucp_stream_send_nbx", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle STREAM_RECV_NBX =
            bindStatusPointer("ucp_stream_recv_nbx", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle STREAM_RECV_DATA_NB =
            bindStatusPointer("ucp_stream_recv_data_nb", JAVA_LONG, JAVA_LONG);
    static final MethodHandle STREAM_DATA_RELEASE = bindVoid("ucp_stream_data_release", JAVA_LONG, JAVA_LONG);
    static final MethodHandle STREAM_WORKER_POLL = bind("ucp_stream_worker_poll",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));

    // Active messages
    static final MethodHandle WORKER_SET_AM_RECV_HANDLER =
            bindStatus("ucp_worker_set_am_recv_handler", JAVA_LONG, JAVA_LONG);
    static final MethodHandle AM_SEND_NBX = bindStatusPointer("ucp_am_send_nbx",
            JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle AM_RECV_DATA_NBX =
            bindStatusPointer("ucp_am_recv_data_nbx", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle AM_DATA_RELEASE = bindVoid("ucp_am_data_release", JAVA_LONG, JAVA_LONG);

    // Memory, remote keys, one-sided operations
    static final MethodHandle MEM_MAP = bindStatus("ucp_mem_map", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle MEM_UNMAP = bindStatus("ucp_mem_unmap", JAVA_LONG, JAVA_LONG);
    static final MethodHandle MEM_QUERY = bindStatus("ucp_mem_query", JAVA_LONG, JAVA_LONG);
    static final MethodHandle RKEY_PACK =
            bindStatus("ucp_rkey_pack", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle RKEY_BUFFER_RELEASE = bindVoid("ucp_rkey_buffer_release", JAVA_LONG);
    static final MethodHandle RKEY_PTR = bindStatus("ucp_rkey_ptr", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle RKEY_DESTROY = bindVoid("ucp_rkey_destroy", JAVA_LONG);
    static final MethodHandle PUT_NBX = bindStatusPointer("ucp_put_nbx",
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle GET_NBX = bindStatusPointer("ucp_get_nbx",
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle ATOMIC_OP_NBX = bindStatusPointer("ucp_atomic_op_nbx",
            JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    // Request
    /** Critical: reads two fields of the request, takes no lock, calls nothing. */
    static final MethodHandle REQUEST_CHECK_STATUS =
            bind("ucp_request_check_status", FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG), CRITICAL);
    /** Critical for the same reason, and writes one length. */
    static final MethodHandle STREAM_RECV_REQUEST_TEST = bind("ucp_stream_recv_request_test",
            FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG), CRITICAL);
    /** Critical for the same reason, and writes one tag info. */
    static final MethodHandle TAG_RECV_REQUEST_TEST = bind("ucp_tag_recv_request_test",
            FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG, JAVA_LONG), CRITICAL);
    /** Critical: pushes the request on a free list, or marks it. */
    static final MethodHandle REQUEST_FREE =
            bind("ucp_request_free", FunctionDescriptor.ofVoid(JAVA_LONG), CRITICAL);
    static final MethodHandle REQUEST_CANCEL = bindVoid("ucp_request_cancel", JAVA_LONG, JAVA_LONG);

    private UcpFunctions() {
    }

    static MethodHandle bind(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        MemorySegment symbol = SYMBOLS.find(name).orElseThrow(
                () -> new UnsatisfiedLinkError("The UCX library " + UcxLibrary.load().path() + " has no " + name));
        return LINKER.downcallHandle(symbol, descriptor, options);
    }

    private static MethodHandle bindStatus(String name, MemoryLayout... arguments) {
        return bind(name, FunctionDescriptor.of(JAVA_BYTE, arguments));
    }

    /** For {@code ucs_status_ptr_t} and plain pointers. */
    private static MethodHandle bindStatusPointer(String name, MemoryLayout... arguments) {
        return bind(name, FunctionDescriptor.of(JAVA_LONG, arguments));
    }

    private static MethodHandle bindVoid(String name, MemoryLayout... arguments) {
        return bind(name, FunctionDescriptor.ofVoid(arguments));
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
