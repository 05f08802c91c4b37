// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;

/** How an open connection ended. All but {@link #ORDERLY} are resets. */
public enum CloseReason {
    /** The peer had ended its stream, or this side its own, and what was before that had been delivered or was not wanted. */
    ORDERLY,
    /** The peer reset it, or its process has gone. */
    RESET_BY_PEER,
    /** UCX reported another failure. */
    LOST,
    /** The peer broke the protocol. */
    PROTOCOL_VIOLATION,
    /** This side closed it without delivering: {@code SO_LINGER} 0, deregistered, or its loop ended. */
    ABORTED,
    /** The peer did not take in time what was to be delivered to it before the close. */
    CLOSE_TIMED_OUT;

    static CloseReason ofFailure(int status) {
        // As with the exceptions: see EndpointFailure.
        return status == UcsStatus.ERR_CONNECTION_RESET || status == UcsStatus.ERR_ENDPOINT_TIMEOUT
                ? RESET_BY_PEER : LOST;
    }
}
