// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/** Why a connection was not made. */
public enum HandshakeFailure {
    /** Nobody listens there. */
    REFUSED(0),
    /** The network does not lead there. */
    UNREACHABLE(0),
    /** It failed for a reason that has no constant here. */
    CONNECT_FAILED(0),
    /** The peer closed or reset the socket before the handshake was over. */
    CLOSED_BY_PEER(0),
    /**
     * It was not open within the connect timeout, the kernel's own for a connect that nobody answers, or the accepting side's
     * handshake timeout.
     */
    TIMED_OUT(0),
    /** This side closed the channel, or cancelled the connect. */
    CANCELLED(0),
    /** What the peer said first is nothing of this protocol: it is another program. */
    OTHER_PROGRAM(0),
    /** The peer speaks another version of the protocol. */
    OTHER_PROTOCOL_VERSION(1),
    /** The peer broke the protocol. */
    PROTOCOL_VIOLATION(2),
    /** One side has a shared secret, the other has none. */
    NO_SECRET(3),
    /** The two sides have different secrets, or what one of them said was changed on its way. */
    WRONG_SECRET(4),
    /** There is no lane that both sides have and allow. */
    NO_COMMON_LANE(5),
    /** An ordinary TCP client came to a server that refuses them. */
    PLAIN_REFUSED(0),
    /** There was no memory for the handshake. */
    NO_MEMORY(6),
    /** Something failed on the side that says so: for want of descriptors or shared memory, say. */
    LOCAL_FAILURE(7);

    private static final HandshakeFailure[] FAILURES = values();

    private final int code;

    HandshakeFailure(int code) {
        this.code = code;
    }

    /** Its code in REFUSE, or 0 if it is never told to the peer. */
    int code() {
        return code;
    }

    /** What a peer means who refuses with that code; {@link #CONNECT_FAILED} if it is unknown. */
    static HandshakeFailure ofCode(int code) {
        for (HandshakeFailure failure : FAILURES) {
            if (failure.code == code && code != 0) {
                return failure;
            }
        }
        return CONNECT_FAILED;
    }
}
