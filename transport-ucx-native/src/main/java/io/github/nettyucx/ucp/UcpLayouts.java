// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/**
 * Sizes and field offsets, in bytes, of the C structs that cross the border, for 64-bit Linux.
 *
 * <p>The sizes are those of UCX 1.22, and every struct is handed over zeroed: structs grow only at their tail and
 * every field has a mask bit, so an older library never looks at the part that it doesn't know. Only fields
 * that this binding uses are listed. A test compares each number with the real headers, through
 * {@code src/test/c/layouts.c}; a number added here must be added there.
 */
final class UcpLayouts {

    private UcpLayouts() {
    }

    /** {@code ucp_params_t}. */
    static final class Params {
        static final int SIZE = 88;
        static final int FIELD_MASK = 0;
        static final int FEATURES = 8;
        static final int MT_WORKERS_SHARED = 48;
        static final int ESTIMATED_NUM_EPS = 56;
        static final int NAME = 72;
    }

    /** {@code ucp_lib_attr_t}. */
    static final class LibAttr {
        static final int SIZE = 16;
        static final int FIELD_MASK = 0;
        static final int MAX_THREAD_LEVEL = 8;
    }

    /** {@code ucp_context_attr_t}. */
    static final class ContextAttr {
        static final int SIZE = 72;
        static final int FIELD_MASK = 0;
        static final int THREAD_MODE = 16;
        static final int MEMORY_TYPES = 24;
        static final int NAME = 32;
    }

    /** {@code ucp_worker_params_t}. */
    static final class WorkerParams {
        static final int SIZE = 200;
        static final int FIELD_MASK = 0;
        static final int THREAD_MODE = 8;
        static final int EVENTS = 144;
        static final int NAME = 176;
        static final int CLIENT_ID = 192;
    }

    /** {@code ucp_worker_attr_t}. */
    static final class WorkerAttr {
        static final int SIZE = 80;
        static final int FIELD_MASK = 0;
        static final int THREAD_MODE = 8;
        static final int ADDRESS = 16;
        static final int ADDRESS_LENGTH = 24;
        static final int MAX_AM_HEADER = 32;
        static final int NAME = 40;
    }

    /** {@code ucp_listener_params_t}. */
    static final class ListenerParams {
        static final int SIZE = 56;
        static final int FIELD_MASK = 0;
        static final int SOCKADDR_ADDRESS = 8;
        static final int SOCKADDR_LENGTH = 16;
        static final int CONN_HANDLER_CB = 40;
        static final int CONN_HANDLER_ARG = 48;
    }

    /** {@code ucp_listener_attr_t}. */
    static final class ListenerAttr {
        static final int SIZE = 136;
        static final int FIELD_MASK = 0;
        static final int SOCKADDR = 8;
    }

    /** {@code ucp_conn_request_attr_t}. */
    static final class ConnRequestAttr {
        static final int SIZE = 144;
        static final int FIELD_MASK = 0;
        static final int CLIENT_ADDRESS = 8;
        static final int CLIENT_ID = 136;
    }

    /** {@code ucp_ep_params_t}. */
    static final class EpParams {
        static final int SIZE = 104;
        static final int FIELD_MASK = 0;
        static final int ADDRESS = 8;
        static final int ERR_MODE = 16;
        static final int ERR_HANDLER_CB = 24;
        static final int ERR_HANDLER_ARG = 32;
        static final int USER_DATA = 40;
        static final int FLAGS = 48;
        static final int SOCKADDR_ADDRESS = 56;
        static final int SOCKADDR_LENGTH = 64;
        static final int CONN_REQUEST = 72;
        static final int NAME = 80;
        static final int LOCAL_SOCKADDR_ADDRESS = 88;
        static final int LOCAL_SOCKADDR_LENGTH = 96;
    }

    /** {@code ucp_ep_attr_t}. */
    static final class EpAttr {
        static final int SIZE = 328;
        static final int FIELD_MASK = 0;
        static final int NAME = 8;
        static final int LOCAL_SOCKADDR = 40;
        static final int REMOTE_SOCKADDR = 168;
        static final int TRANSPORTS_ENTRIES = 296;
        static final int TRANSPORTS_NUM_ENTRIES = 304;
        static final int TRANSPORTS_ENTRY_SIZE = 312;
    }

    /** {@code ucp_transport_entry_t}. */
    static final class TransportEntry {
        static final int SIZE = 16;
        static final int TRANSPORT_NAME = 0;
        static final int DEVICE_NAME = 8;
    }

    /** {@code ucp_request_param_t}. */
    static final class RequestParam {
        static final int SIZE = 96;
        static final int OP_ATTR_MASK = 0;
        static final int FLAGS = 4;
        static final int DATATYPE = 24;
        static final int REPLY_BUFFER = 40;
        static final int MEMORY_TYPE = 48;
        static final int MEMH = 64;
    }

    /** {@code ucp_tag_recv_info_t}. */
    static final class TagRecvInfo {
        static final int SIZE = 16;
        static final int SENDER_TAG = 0;
        static final int LENGTH = 8;
    }

    /** {@code ucp_stream_poll_ep_t}. */
    static final class StreamPollEp {
        static final int SIZE = 40;
        static final int EP = 0;
        static final int USER_DATA = 8;
    }

    /** {@code ucp_dt_iov_t}. */
    static final class Iov {
        static final int SIZE = 16;
        static final int BUFFER = 0;
        static final int LENGTH = 8;
    }

    /** {@code ucp_am_handler_param_t}. */
    static final class AmHandlerParam {
        static final int SIZE = 32;
        static final int FIELD_MASK = 0;
        static final int ID = 8;
        static final int FLAGS = 12;
        static final int CB = 16;
        static final int ARG = 24;
    }

    /** {@code ucp_am_recv_param_t}. */
    static final class AmRecvParam {
        static final int RECV_ATTR = 0;
        static final int REPLY_EP = 8;
    }

    /** {@code ucp_mem_map_params_t}. */
    static final class MemMapParams {
        static final int SIZE = 48;
        static final int FIELD_MASK = 0;
        static final int ADDRESS = 8;
        static final int LENGTH = 16;
        static final int FLAGS = 24;
    }

    /** {@code ucp_mem_attr_t}. */
    static final class MemAttr {
        static final int SIZE = 32;
        static final int FIELD_MASK = 0;
        static final int ADDRESS = 8;
        static final int LENGTH = 16;
    }
}
