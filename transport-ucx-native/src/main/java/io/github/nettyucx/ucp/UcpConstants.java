// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/**
 * Enumerators and macros of the UCX headers under their C names, so that a reader can search for them in UCX's
 * documentation. The same test that checks {@link UcpLayouts} checks every value here. Statuses are in
 * {@link UcsStatus}.
 */
final class UcpConstants {

    /** What the binding was written against: the oldest UCX release that it supports. */
    static final int API_MAJOR = 1;
    static final int API_MINOR = 16;

    static final int UCP_PARAM_FIELD_FEATURES = 1;
    static final int UCP_PARAM_FIELD_MT_WORKERS_SHARED = 1 << 5;
    static final int UCP_PARAM_FIELD_ESTIMATED_NUM_EPS = 1 << 6;
    static final int UCP_PARAM_FIELD_NAME = 1 << 8;

    static final int UCP_FEATURE_TAG = 1;
    static final int UCP_FEATURE_RMA = 1 << 1;
    static final int UCP_FEATURE_AMO32 = 1 << 2;
    static final int UCP_FEATURE_AMO64 = 1 << 3;
    static final int UCP_FEATURE_WAKEUP = 1 << 4;
    static final int UCP_FEATURE_STREAM = 1 << 5;
    static final int UCP_FEATURE_AM = 1 << 6;

    static final int UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL = 1;

    static final int UCP_ATTR_FIELD_THREAD_MODE = 1 << 1;
    static final int UCP_ATTR_FIELD_MEMORY_TYPES = 1 << 2;
    static final int UCP_ATTR_FIELD_NAME = 1 << 3;

    static final int UCS_THREAD_MODE_SINGLE = 0;
    static final int UCS_THREAD_MODE_SERIALIZED = 1;
    static final int UCS_THREAD_MODE_MULTI = 2;

    static final int UCS_MEMORY_TYPE_HOST = 0;

    static final int UCP_WORKER_PARAM_FIELD_THREAD_MODE = 1;
    static final int UCP_WORKER_PARAM_FIELD_EVENTS = 1 << 2;
    static final int UCP_WORKER_PARAM_FIELD_NAME = 1 << 6;
    static final int UCP_WORKER_PARAM_FIELD_CLIENT_ID = 1 << 8;

    static final int UCP_WORKER_ATTR_FIELD_THREAD_MODE = 1;
    static final int UCP_WORKER_ATTR_FIELD_ADDRESS = 1 << 1;
    static final int UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER = 1 << 3;
    static final int UCP_WORKER_ATTR_FIELD_NAME = 1 << 4;

    static final int UCP_WAKEUP_RMA = 1;
    static final int UCP_WAKEUP_AMO = 1 << 1;
    static final int UCP_WAKEUP_TAG_SEND = 1 << 2;
    static final int UCP_WAKEUP_TAG_RECV = 1 << 3;
    static final int UCP_WAKEUP_TX = 1 << 10;
    static final int UCP_WAKEUP_RX = 1 << 11;
    static final int UCP_WAKEUP_EDGE = 1 << 16;

    static final int UCP_LISTENER_PARAM_FIELD_SOCK_ADDR = 1;
    static final int UCP_LISTENER_PARAM_FIELD_CONN_HANDLER = 1 << 2;

    static final int UCP_LISTENER_ATTR_FIELD_SOCKADDR = 1;

    static final int UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR = 1;
    static final int UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID = 1 << 1;

    static final int UCP_EP_PARAM_FIELD_REMOTE_ADDRESS = 1;
    static final int UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE = 1 << 1;
    static final int UCP_EP_PARAM_FIELD_ERR_HANDLER = 1 << 2;
    static final int UCP_EP_PARAM_FIELD_USER_DATA = 1 << 3;
    static final int UCP_EP_PARAM_FIELD_SOCK_ADDR = 1 << 4;
    static final int UCP_EP_PARAM_FIELD_FLAGS = 1 << 5;
    static final int UCP_EP_PARAM_FIELD_CONN_REQUEST = 1 << 6;
    static final int UCP_EP_PARAM_FIELD_NAME = 1 << 7;
    static final int UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR = 1 << 8;

    static final int UCP_EP_PARAMS_FLAGS_CLIENT_SERVER = 1;
    static final int UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID = 1 << 2;

    static final int UCP_ERR_HANDLING_MODE_PEER = 1;

    static final int UCP_EP_CLOSE_FLAG_FORCE = 1;

    static final int UCP_EP_ATTR_FIELD_NAME = 1;
    static final int UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR = 1 << 1;
    static final int UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR = 1 << 2;
    static final int UCP_EP_ATTR_FIELD_TRANSPORTS = 1 << 3;

    static final int UCP_OP_ATTR_FIELD_DATATYPE = 1 << 3;
    static final int UCP_OP_ATTR_FIELD_FLAGS = 1 << 4;
    static final int UCP_OP_ATTR_FIELD_REPLY_BUFFER = 1 << 5;
    static final int UCP_OP_ATTR_FIELD_MEMORY_TYPE = 1 << 6;
    static final int UCP_OP_ATTR_FIELD_MEMH = 1 << 8;

    static final int UCP_DATATYPE_CONTIG = 0;
    static final int UCP_DATATYPE_IOV = 2;
    static final int UCP_DATATYPE_SHIFT = 3;

    static final int UCP_STREAM_RECV_FLAG_WAITALL = 1;

    static final int UCP_AM_HANDLER_PARAM_FIELD_ID = 1;
    static final int UCP_AM_HANDLER_PARAM_FIELD_FLAGS = 1 << 1;
    static final int UCP_AM_HANDLER_PARAM_FIELD_CB = 1 << 2;
    static final int UCP_AM_HANDLER_PARAM_FIELD_ARG = 1 << 3;

    static final int UCP_AM_FLAG_WHOLE_MSG = 1;
    static final int UCP_AM_FLAG_PERSISTENT_DATA = 1 << 1;

    static final int UCP_AM_SEND_FLAG_REPLY = 1;
    static final int UCP_AM_SEND_FLAG_EAGER = 1 << 1;
    static final int UCP_AM_SEND_FLAG_RNDV = 1 << 2;
    static final int UCP_AM_SEND_FLAG_COPY_HEADER = 1 << 3;

    static final int UCP_AM_RECV_ATTR_FIELD_REPLY_EP = 1;

    static final int UCP_AM_RECV_ATTR_FLAG_DATA = 1 << 16;
    static final int UCP_AM_RECV_ATTR_FLAG_RNDV = 1 << 17;

    static final int UCP_ATOMIC_OP_ADD = 0;
    static final int UCP_ATOMIC_OP_SWAP = 1;
    static final int UCP_ATOMIC_OP_CSWAP = 2;
    static final int UCP_ATOMIC_OP_AND = 3;
    static final int UCP_ATOMIC_OP_OR = 4;
    static final int UCP_ATOMIC_OP_XOR = 5;

    static final int UCP_MEM_MAP_PARAM_FIELD_ADDRESS = 1;
    static final int UCP_MEM_MAP_PARAM_FIELD_LENGTH = 1 << 1;
    static final int UCP_MEM_MAP_PARAM_FIELD_FLAGS = 1 << 2;

    static final int UCP_MEM_MAP_ALLOCATE = 1 << 1;

    static final int UCP_MEM_ATTR_FIELD_ADDRESS = 1;
    static final int UCP_MEM_ATTR_FIELD_LENGTH = 1 << 1;

    private UcpConstants() {
    }
}
