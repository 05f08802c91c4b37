// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

/** How an open connection ended. All but {@link #ORDERLY} are resets. */
public enum CloseReason {
    /** The peer had ended its stream, or this side its own, and what was before that had been delivered or was not wanted. */
    ORDERLY,
    /** The peer reset it, or its process has gone. */
    RESET_BY_PEER,
    /** UCX, or the kernel, reported another failure, or has lost messages, or there was no memory for one. */
    LOST,
    /** The peer broke the protocol. */
    PROTOCOL_VIOLATION,
    /** This side closed it without delivering: {@code SO_LINGER} 0, deregistered, or its loop ended. */
    ABORTED,
    /** The peer did not take in time what was to be delivered to it before the close. */
    CLOSE_TIMED_OUT;

    static CloseReason ofFailure(int status) {
        return EndpointFailure.isReset(status) ? RESET_BY_PEER : LOST;
    }
}
