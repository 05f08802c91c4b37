// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.ucp.UcsStatus;

/** Is told that an endpoint has failed. */
@FunctionalInterface
public interface EndpointListener {

    /**
     * Called once, from the loop's turn (never from inside UCX), when every message that had arrived before the
     * failure has been delivered.
     *
     * @param status UCX's reason, such as {@code UCS_ERR_CONNECTION_RESET}
     */
    void endpointFailed(int status);

    /** Whether a connect that fails so has found nobody who agreed to it. */
    static boolean isRefusal(int status) {
        return status == UcsStatus.ERR_NOT_CONNECTED || status == UcsStatus.ERR_REJECTED
                || status == UcsStatus.ERR_UNREACHABLE;
    }

    /**
     * Whether such a failure is no surprise, because one of the two sides has ended the connection, or the peer has
     * turned it down. Any other is taken for the death of the peer's process. Asked just before it is reported.
     */
    default boolean expects(int status) {
        return false;
    }
}
