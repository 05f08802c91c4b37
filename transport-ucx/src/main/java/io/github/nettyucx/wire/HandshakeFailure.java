// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;

/** Why a connection was not made. */
public enum HandshakeFailure {
    /** Nobody listens there. */
    REFUSED,
    /** The peer's transport has turned the request down. */
    REJECTED,
    /** No transport of UCX reaches the peer. */
    UNREACHABLE,
    /** UCX could not connect for another reason. */
    CONNECT_FAILED,
    /** The peer closed the connection while the HELLOs were under way. */
    CLOSED_BY_PEER,
    /** It was not open within the connect timeout, or the accepting side's handshake timeout. */
    TIMED_OUT,
    /** This side closed the channel, or cancelled the connect. */
    CANCELLED,
    /** What the peer said first is no HELLO: it is another program. */
    OTHER_PROGRAM,
    /** The peer speaks another version of the protocol. */
    OTHER_PROTOCOL_VERSION,
    /** The peer runs another UCX. */
    OTHER_UCX_VERSION,
    /** The peer's HELLO cannot be true, or it broke the protocol before its HELLO was in. */
    PROTOCOL_VIOLATION,
    /** There was no memory for the HELLOs. */
    NO_MEMORY,
    /** UCX could not make what is needed on this side, for want of descriptors or shared memory, say. */
    LOCAL_FAILURE,
    /** A request that the server turned down because as many waited as its backlog has room for. */
    BACKLOG_FULL,
    /** A request that the server turned down because nobody accepted it within the handshake timeout. */
    NOT_ACCEPTED;

    static HandshakeFailure whileConnecting(int status) {
        return switch (status) {
            // As with the exceptions: see EndpointFailure.
            case UcsStatus.ERR_NOT_CONNECTED, UcsStatus.ERR_CONNECTION_RESET, UcsStatus.ERR_ENDPOINT_TIMEOUT -> REFUSED;
            case UcsStatus.ERR_REJECTED -> REJECTED;
            case UcsStatus.ERR_UNREACHABLE -> UNREACHABLE;
            default -> CONNECT_FAILED;
        };
    }
}
