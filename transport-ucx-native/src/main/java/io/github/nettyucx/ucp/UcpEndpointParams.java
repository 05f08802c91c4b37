// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import io.github.nettyucx.socket.SocketAddresses;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Objects;

/**
 * How to create a {@link UcpEndpoint} with {@link UcpWorker#createEndpoint}: to a socket address, to a worker's
 * address, or for a connection request; exactly one of them. Not thread-safe; may be used for several endpoints
 * unless it has a connection request.
 */
public final class UcpEndpointParams {

    /**
     * Zeros behind a worker's address. UCX reads from it until it finds an end, which a damaged one need not have; in
     * zeros it goes on for the 128 entries that it takes at most, of less than 32 bytes each, and gives up.
     */
    private static final int ADDRESS_PADDING = 8192;

    private InetSocketAddress remoteAddress;
    private InetSocketAddress localAddress;
    private byte[] workerAddress;
    private UcpConnectionRequest connectionRequest;
    private EndpointErrorHandler errorHandler;
    private boolean sendClientId;
    private String name;

    /** Connects to a listener. */
    public UcpEndpointParams remoteAddress(InetSocketAddress address) {
        remoteAddress = Objects.requireNonNull(address, "address");
        return this;
    }

    /** Binds the local side of a connection to a listener. Default: the system's choice. */
    public UcpEndpointParams localAddress(InetSocketAddress address) {
        localAddress = address;
        return this;
    }

    /**
     * Connects to the worker that has this {@link UcpWorker#queryAddress()}.
     *
     * <p>UCX is not told how long the address is, and believes what it reads. A truncated one fails with
     * {@link UcsStatus#ERR_INVALID_PARAM}. One with a wrong bit may fail, may do no harm, may lead to shared memory of
     * somebody else, which is then written to, or may end the process: an address that comes from elsewhere needs a
     * checksum, and an address that comes from a stranger must not be used at all.
     */
    public UcpEndpointParams workerAddress(byte[] address) {
        workerAddress = address.clone();
        return this;
    }

    /** Accepts this request. It is used up even if that fails. */
    public UcpEndpointParams connectionRequest(UcpConnectionRequest request) {
        connectionRequest = Objects.requireNonNull(request, "request");
        return this;
    }

    /**
     * Who learns of the endpoint's failure; {@code null}, the default, for an endpoint <em>without error
     * handling</em>. Such an endpoint never learns of its peer's death, and can't be closed by force; but atomic
     * operations work on no other. Both sides of a connection must be the same in this.
     */
    public UcpEndpointParams errorHandler(EndpointErrorHandler handler) {
        errorHandler = handler;
        return this;
    }

    /** Whether to tell a listener this worker's {@link UcpWorkerParams#clientId}. Default: false. */
    public UcpEndpointParams sendClientId(boolean send) {
        sendClientId = send;
        return this;
    }

    /** A name for tools that look into UCX; at most 31 bytes of it are kept. Default: UCX's choice. */
    public UcpEndpointParams name(String name) {
        this.name = name;
        return this;
    }

    EndpointErrorHandler errorHandler() {
        return errorHandler;
    }

    UcpConnectionRequest connectionRequest() {
        return connectionRequest;
    }

    /** What is about to happen, for messages. */
    String purpose() {
        if (connectionRequest != null) {
            return "Accepting " + connectionRequest.clientAddress();
        }
        return remoteAddress != null ? "Connecting to " + remoteAddress : "Connecting to a worker";
    }

    void validate() {
        int targets = (remoteAddress != null ? 1 : 0) + (workerAddress != null ? 1 : 0)
                + (connectionRequest != null ? 1 : 0);
        if (targets != 1) {
            throw new IllegalStateException("An endpoint needs exactly one of: a remote socket address, "
                    + "a worker address, a connection request; there are " + targets);
        }
    }

    long write(Arena arena, long id) {
        MemorySegment params = arena.allocate(UcpLayouts.EpParams.SIZE, Long.BYTES);
        long mask = UcpConstants.UCP_EP_PARAM_FIELD_USER_DATA;
        int flags = 0;
        // Reported by ucp_stream_worker_poll, and handed to the error handler, whose own argument it overrides.
        params.set(ValueLayout.JAVA_LONG, UcpLayouts.EpParams.USER_DATA, id);
        if (errorHandler != null) {
            mask |= UcpConstants.UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UcpConstants.UCP_EP_PARAM_FIELD_ERR_HANDLER;
            params.set(ValueLayout.JAVA_INT, UcpLayouts.EpParams.ERR_MODE, UcpConstants.UCP_ERR_HANDLING_MODE_PEER);
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.EpParams.ERR_HANDLER_CB, Upcalls.endpointError());
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.EpParams.ERR_HANDLER_ARG, id);
        }
        if (remoteAddress != null) {
            mask |= UcpConstants.UCP_EP_PARAM_FIELD_SOCK_ADDR;
            flags |= UcpConstants.UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
            putSockAddr(arena, params, UcpLayouts.EpParams.SOCKADDR_ADDRESS, UcpLayouts.EpParams.SOCKADDR_LENGTH,
                    remoteAddress);
            if (sendClientId) {
                flags |= UcpConstants.UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID;
            }
            if (localAddress != null) {
                mask |= UcpConstants.UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR;
                putSockAddr(arena, params, UcpLayouts.EpParams.LOCAL_SOCKADDR_ADDRESS,
                        UcpLayouts.EpParams.LOCAL_SOCKADDR_LENGTH, localAddress);
            }
        } else if (workerAddress != null) {
            mask |= UcpConstants.UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
            MemorySegment copy = arena.allocate((long) workerAddress.length + ADDRESS_PADDING, Long.BYTES);
            MemorySegment.copy(workerAddress, 0, copy, ValueLayout.JAVA_BYTE, 0, workerAddress.length);
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.EpParams.ADDRESS, copy.address());
        } else {
            mask |= UcpConstants.UCP_EP_PARAM_FIELD_CONN_REQUEST;
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.EpParams.CONN_REQUEST, connectionRequest.address());
        }
        if (flags != 0) {
            mask |= UcpConstants.UCP_EP_PARAM_FIELD_FLAGS;
            params.set(ValueLayout.JAVA_INT, UcpLayouts.EpParams.FLAGS, flags);
        }
        if (name != null) {
            mask |= UcpConstants.UCP_EP_PARAM_FIELD_NAME;
            params.set(ValueLayout.JAVA_LONG, UcpLayouts.EpParams.NAME, arena.allocateFrom(name).address());
        }
        params.set(ValueLayout.JAVA_LONG, UcpLayouts.EpParams.FIELD_MASK, mask);
        return params.address();
    }

    private static void putSockAddr(
            Arena arena, MemorySegment params, long addressOffset, long lengthOffset, InetSocketAddress address) {
        MemorySegment sockaddr = SocketAddresses.encode(arena, address);
        params.set(ValueLayout.JAVA_LONG, addressOffset, sockaddr.address());
        params.set(ValueLayout.JAVA_INT, lengthOffset, (int) sockaddr.byteSize());
    }
}
