// SPDX-License-Identifier: Apache-2.0
/*
 * Prints every struct size, field offset and constant that the binding states on its own, as the headers
 * have it: "struct <class>.SIZE=<bytes>", "offset <class>.<FIELD>=<bytes>" and "const <NAME>=<value>".
 * The Java side fails on a value that differs and on a name that is missing on either side.
 */
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <ucp/api/ucp.h>

#define STRUCT(_class, _type)          printf("struct " #_class ".SIZE=%zu\n", sizeof(_type))
#define OFFSET(_class, _name, _type, _field) \
    printf("offset " #_class "." #_name "=%zu\n", offsetof(_type, _field))
#define CONST(_name)                   printf("const " #_name "=%lld\n", (long long)(_name))

static void structs(void)
{
    STRUCT(Params, ucp_params_t);
    OFFSET(Params, FIELD_MASK, ucp_params_t, field_mask);
    OFFSET(Params, FEATURES, ucp_params_t, features);
    OFFSET(Params, MT_WORKERS_SHARED, ucp_params_t, mt_workers_shared);
    OFFSET(Params, ESTIMATED_NUM_EPS, ucp_params_t, estimated_num_eps);
    OFFSET(Params, NAME, ucp_params_t, name);

    STRUCT(LibAttr, ucp_lib_attr_t);
    OFFSET(LibAttr, FIELD_MASK, ucp_lib_attr_t, field_mask);
    OFFSET(LibAttr, MAX_THREAD_LEVEL, ucp_lib_attr_t, max_thread_level);

    STRUCT(ContextAttr, ucp_context_attr_t);
    OFFSET(ContextAttr, FIELD_MASK, ucp_context_attr_t, field_mask);
    OFFSET(ContextAttr, THREAD_MODE, ucp_context_attr_t, thread_mode);
    OFFSET(ContextAttr, MEMORY_TYPES, ucp_context_attr_t, memory_types);
    OFFSET(ContextAttr, NAME, ucp_context_attr_t, name);

    STRUCT(WorkerParams, ucp_worker_params_t);
    OFFSET(WorkerParams, FIELD_MASK, ucp_worker_params_t, field_mask);
    OFFSET(WorkerParams, THREAD_MODE, ucp_worker_params_t, thread_mode);
    OFFSET(WorkerParams, EVENTS, ucp_worker_params_t, events);
    OFFSET(WorkerParams, NAME, ucp_worker_params_t, name);
    OFFSET(WorkerParams, CLIENT_ID, ucp_worker_params_t, client_id);

    STRUCT(WorkerAttr, ucp_worker_attr_t);
    OFFSET(WorkerAttr, FIELD_MASK, ucp_worker_attr_t, field_mask);
    OFFSET(WorkerAttr, THREAD_MODE, ucp_worker_attr_t, thread_mode);
    OFFSET(WorkerAttr, ADDRESS, ucp_worker_attr_t, address);
    OFFSET(WorkerAttr, ADDRESS_LENGTH, ucp_worker_attr_t, address_length);
    OFFSET(WorkerAttr, MAX_AM_HEADER, ucp_worker_attr_t, max_am_header);
    OFFSET(WorkerAttr, NAME, ucp_worker_attr_t, name);

    STRUCT(ListenerParams, ucp_listener_params_t);
    OFFSET(ListenerParams, FIELD_MASK, ucp_listener_params_t, field_mask);
    OFFSET(ListenerParams, SOCKADDR_ADDRESS, ucp_listener_params_t, sockaddr.addr);
    OFFSET(ListenerParams, SOCKADDR_LENGTH, ucp_listener_params_t, sockaddr.addrlen);
    OFFSET(ListenerParams, CONN_HANDLER_CB, ucp_listener_params_t, conn_handler.cb);
    OFFSET(ListenerParams, CONN_HANDLER_ARG, ucp_listener_params_t, conn_handler.arg);

    STRUCT(ListenerAttr, ucp_listener_attr_t);
    OFFSET(ListenerAttr, FIELD_MASK, ucp_listener_attr_t, field_mask);
    OFFSET(ListenerAttr, SOCKADDR, ucp_listener_attr_t, sockaddr);

    STRUCT(ConnRequestAttr, ucp_conn_request_attr_t);
    OFFSET(ConnRequestAttr, FIELD_MASK, ucp_conn_request_attr_t, field_mask);
    OFFSET(ConnRequestAttr, CLIENT_ADDRESS, ucp_conn_request_attr_t, client_address);
    OFFSET(ConnRequestAttr, CLIENT_ID, ucp_conn_request_attr_t, client_id);

    STRUCT(EpParams, ucp_ep_params_t);
    OFFSET(EpParams, FIELD_MASK, ucp_ep_params_t, field_mask);
    OFFSET(EpParams, ADDRESS, ucp_ep_params_t, address);
    OFFSET(EpParams, ERR_MODE, ucp_ep_params_t, err_mode);
    OFFSET(EpParams, ERR_HANDLER_CB, ucp_ep_params_t, err_handler.cb);
    OFFSET(EpParams, ERR_HANDLER_ARG, ucp_ep_params_t, err_handler.arg);
    OFFSET(EpParams, USER_DATA, ucp_ep_params_t, user_data);
    OFFSET(EpParams, FLAGS, ucp_ep_params_t, flags);
    OFFSET(EpParams, SOCKADDR_ADDRESS, ucp_ep_params_t, sockaddr.addr);
    OFFSET(EpParams, SOCKADDR_LENGTH, ucp_ep_params_t, sockaddr.addrlen);
    OFFSET(EpParams, CONN_REQUEST, ucp_ep_params_t, conn_request);
    OFFSET(EpParams, NAME, ucp_ep_params_t, name);
    OFFSET(EpParams, LOCAL_SOCKADDR_ADDRESS, ucp_ep_params_t, local_sockaddr.addr);
    OFFSET(EpParams, LOCAL_SOCKADDR_LENGTH, ucp_ep_params_t, local_sockaddr.addrlen);

    STRUCT(EpAttr, ucp_ep_attr_t);
    OFFSET(EpAttr, FIELD_MASK, ucp_ep_attr_t, field_mask);
    OFFSET(EpAttr, NAME, ucp_ep_attr_t, name);
    OFFSET(EpAttr, LOCAL_SOCKADDR, ucp_ep_attr_t, local_sockaddr);
    OFFSET(EpAttr, REMOTE_SOCKADDR, ucp_ep_attr_t, remote_sockaddr);
    OFFSET(EpAttr, TRANSPORTS_ENTRIES, ucp_ep_attr_t, transports.entries);
    OFFSET(EpAttr, TRANSPORTS_NUM_ENTRIES, ucp_ep_attr_t, transports.num_entries);
    OFFSET(EpAttr, TRANSPORTS_ENTRY_SIZE, ucp_ep_attr_t, transports.entry_size);

    STRUCT(TransportEntry, ucp_transport_entry_t);
    OFFSET(TransportEntry, TRANSPORT_NAME, ucp_transport_entry_t, transport_name);
    OFFSET(TransportEntry, DEVICE_NAME, ucp_transport_entry_t, device_name);

    STRUCT(RequestParam, ucp_request_param_t);
    OFFSET(RequestParam, OP_ATTR_MASK, ucp_request_param_t, op_attr_mask);
    OFFSET(RequestParam, FLAGS, ucp_request_param_t, flags);
    OFFSET(RequestParam, DATATYPE, ucp_request_param_t, datatype);
    OFFSET(RequestParam, REPLY_BUFFER, ucp_request_param_t, reply_buffer);
    OFFSET(RequestParam, MEMORY_TYPE, ucp_request_param_t, memory_type);
    OFFSET(RequestParam, MEMH, ucp_request_param_t, memh);

    STRUCT(TagRecvInfo, ucp_tag_recv_info_t);
    OFFSET(TagRecvInfo, SENDER_TAG, ucp_tag_recv_info_t, sender_tag);
    OFFSET(TagRecvInfo, LENGTH, ucp_tag_recv_info_t, length);

    STRUCT(StreamPollEp, ucp_stream_poll_ep_t);
    OFFSET(StreamPollEp, EP, ucp_stream_poll_ep_t, ep);
    OFFSET(StreamPollEp, USER_DATA, ucp_stream_poll_ep_t, user_data);

    STRUCT(Iov, ucp_dt_iov_t);
    OFFSET(Iov, BUFFER, ucp_dt_iov_t, buffer);
    OFFSET(Iov, LENGTH, ucp_dt_iov_t, length);

    STRUCT(AmHandlerParam, ucp_am_handler_param_t);
    OFFSET(AmHandlerParam, FIELD_MASK, ucp_am_handler_param_t, field_mask);
    OFFSET(AmHandlerParam, ID, ucp_am_handler_param_t, id);
    OFFSET(AmHandlerParam, FLAGS, ucp_am_handler_param_t, flags);
    OFFSET(AmHandlerParam, CB, ucp_am_handler_param_t, cb);
    OFFSET(AmHandlerParam, ARG, ucp_am_handler_param_t, arg);

    OFFSET(AmRecvParam, RECV_ATTR, ucp_am_recv_param_t, recv_attr);
    OFFSET(AmRecvParam, REPLY_EP, ucp_am_recv_param_t, reply_ep);

    STRUCT(MemMapParams, ucp_mem_map_params_t);
    OFFSET(MemMapParams, FIELD_MASK, ucp_mem_map_params_t, field_mask);
    OFFSET(MemMapParams, ADDRESS, ucp_mem_map_params_t, address);
    OFFSET(MemMapParams, LENGTH, ucp_mem_map_params_t, length);
    OFFSET(MemMapParams, FLAGS, ucp_mem_map_params_t, flags);

    STRUCT(MemAttr, ucp_mem_attr_t);
    OFFSET(MemAttr, FIELD_MASK, ucp_mem_attr_t, field_mask);
    OFFSET(MemAttr, ADDRESS, ucp_mem_attr_t, address);
    OFFSET(MemAttr, LENGTH, ucp_mem_attr_t, length);
}

static void context_and_worker_constants(void)
{
    CONST(UCP_PARAM_FIELD_FEATURES);
    CONST(UCP_PARAM_FIELD_MT_WORKERS_SHARED);
    CONST(UCP_PARAM_FIELD_ESTIMATED_NUM_EPS);
    CONST(UCP_PARAM_FIELD_NAME);
    CONST(UCP_FEATURE_TAG);
    CONST(UCP_FEATURE_RMA);
    CONST(UCP_FEATURE_AMO32);
    CONST(UCP_FEATURE_AMO64);
    CONST(UCP_FEATURE_WAKEUP);
    CONST(UCP_FEATURE_STREAM);
    CONST(UCP_FEATURE_AM);
    CONST(UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL);
    CONST(UCP_ATTR_FIELD_THREAD_MODE);
    CONST(UCP_ATTR_FIELD_MEMORY_TYPES);
    CONST(UCP_ATTR_FIELD_NAME);
    CONST(UCS_THREAD_MODE_SINGLE);
    CONST(UCS_THREAD_MODE_SERIALIZED);
    CONST(UCS_THREAD_MODE_MULTI);
    CONST(UCS_MEMORY_TYPE_HOST);
    CONST(UCP_WORKER_PARAM_FIELD_THREAD_MODE);
    CONST(UCP_WORKER_PARAM_FIELD_EVENTS);
    CONST(UCP_WORKER_PARAM_FIELD_NAME);
    CONST(UCP_WORKER_PARAM_FIELD_CLIENT_ID);
    CONST(UCP_WORKER_ATTR_FIELD_THREAD_MODE);
    CONST(UCP_WORKER_ATTR_FIELD_ADDRESS);
    CONST(UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER);
    CONST(UCP_WORKER_ATTR_FIELD_NAME);
    CONST(UCP_WAKEUP_RMA);
    CONST(UCP_WAKEUP_AMO);
    CONST(UCP_WAKEUP_TAG_SEND);
    CONST(UCP_WAKEUP_TAG_RECV);
    CONST(UCP_WAKEUP_TX);
    CONST(UCP_WAKEUP_RX);
    CONST(UCP_WAKEUP_EDGE);
}

static void connection_constants(void)
{
    CONST(UCP_LISTENER_PARAM_FIELD_SOCK_ADDR);
    CONST(UCP_LISTENER_PARAM_FIELD_CONN_HANDLER);
    CONST(UCP_LISTENER_ATTR_FIELD_SOCKADDR);
    CONST(UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR);
    CONST(UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID);
    CONST(UCP_EP_PARAM_FIELD_REMOTE_ADDRESS);
    CONST(UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE);
    CONST(UCP_EP_PARAM_FIELD_ERR_HANDLER);
    CONST(UCP_EP_PARAM_FIELD_USER_DATA);
    CONST(UCP_EP_PARAM_FIELD_SOCK_ADDR);
    CONST(UCP_EP_PARAM_FIELD_FLAGS);
    CONST(UCP_EP_PARAM_FIELD_CONN_REQUEST);
    CONST(UCP_EP_PARAM_FIELD_NAME);
    CONST(UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR);
    CONST(UCP_EP_PARAMS_FLAGS_CLIENT_SERVER);
    CONST(UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID);
    CONST(UCP_ERR_HANDLING_MODE_PEER);
    CONST(UCP_EP_CLOSE_FLAG_FORCE);
    CONST(UCP_EP_ATTR_FIELD_NAME);
    CONST(UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR);
    CONST(UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR);
    CONST(UCP_EP_ATTR_FIELD_TRANSPORTS);
}

static void operation_constants(void)
{
    CONST(UCP_OP_ATTR_FIELD_DATATYPE);
    CONST(UCP_OP_ATTR_FIELD_FLAGS);
    CONST(UCP_OP_ATTR_FIELD_REPLY_BUFFER);
    CONST(UCP_OP_ATTR_FIELD_MEMORY_TYPE);
    CONST(UCP_OP_ATTR_FIELD_MEMH);
    CONST(UCP_DATATYPE_CONTIG);
    CONST(UCP_DATATYPE_IOV);
    CONST(UCP_DATATYPE_SHIFT);
    CONST(UCP_STREAM_RECV_FLAG_WAITALL);
    CONST(UCP_AM_HANDLER_PARAM_FIELD_ID);
    CONST(UCP_AM_HANDLER_PARAM_FIELD_FLAGS);
    CONST(UCP_AM_HANDLER_PARAM_FIELD_CB);
    CONST(UCP_AM_HANDLER_PARAM_FIELD_ARG);
    CONST(UCP_AM_FLAG_WHOLE_MSG);
    CONST(UCP_AM_FLAG_PERSISTENT_DATA);
    CONST(UCP_AM_SEND_FLAG_REPLY);
    CONST(UCP_AM_SEND_FLAG_EAGER);
    CONST(UCP_AM_SEND_FLAG_RNDV);
    CONST(UCP_AM_SEND_FLAG_COPY_HEADER);
    CONST(UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    CONST(UCP_AM_RECV_ATTR_FLAG_DATA);
    CONST(UCP_AM_RECV_ATTR_FLAG_RNDV);
    CONST(UCP_ATOMIC_OP_ADD);
    CONST(UCP_ATOMIC_OP_SWAP);
    CONST(UCP_ATOMIC_OP_CSWAP);
    CONST(UCP_ATOMIC_OP_AND);
    CONST(UCP_ATOMIC_OP_OR);
    CONST(UCP_ATOMIC_OP_XOR);
    CONST(UCP_MEM_MAP_PARAM_FIELD_ADDRESS);
    CONST(UCP_MEM_MAP_PARAM_FIELD_LENGTH);
    CONST(UCP_MEM_MAP_PARAM_FIELD_FLAGS);
    CONST(UCP_MEM_MAP_ALLOCATE);
    CONST(UCP_MEM_ATTR_FIELD_ADDRESS);
    CONST(UCP_MEM_ATTR_FIELD_LENGTH);
}

static void status_constants(void)
{
    printf("struct ucs_status_t.SIZE=%zu\n", sizeof(ucs_status_t));
    CONST(UCS_OK);
    CONST(UCS_INPROGRESS);
    CONST(UCS_ERR_NO_MESSAGE);
    CONST(UCS_ERR_NO_RESOURCE);
    CONST(UCS_ERR_IO_ERROR);
    CONST(UCS_ERR_NO_MEMORY);
    CONST(UCS_ERR_INVALID_PARAM);
    CONST(UCS_ERR_UNREACHABLE);
    CONST(UCS_ERR_INVALID_ADDR);
    CONST(UCS_ERR_NOT_IMPLEMENTED);
    CONST(UCS_ERR_MESSAGE_TRUNCATED);
    CONST(UCS_ERR_NO_PROGRESS);
    CONST(UCS_ERR_BUFFER_TOO_SMALL);
    CONST(UCS_ERR_NO_ELEM);
    CONST(UCS_ERR_SOME_CONNECTS_FAILED);
    CONST(UCS_ERR_NO_DEVICE);
    CONST(UCS_ERR_BUSY);
    CONST(UCS_ERR_CANCELED);
    CONST(UCS_ERR_SHMEM_SEGMENT);
    CONST(UCS_ERR_ALREADY_EXISTS);
    CONST(UCS_ERR_OUT_OF_RANGE);
    CONST(UCS_ERR_TIMED_OUT);
    CONST(UCS_ERR_EXCEEDS_LIMIT);
    CONST(UCS_ERR_UNSUPPORTED);
    CONST(UCS_ERR_REJECTED);
    CONST(UCS_ERR_NOT_CONNECTED);
    CONST(UCS_ERR_CONNECTION_RESET);
    CONST(UCS_ERR_ENDPOINT_TIMEOUT);
}

int main(void)
{
    structs();
    context_and_worker_constants();
    connection_constants();
    operation_constants();
    status_constants();
    return 0;
}
