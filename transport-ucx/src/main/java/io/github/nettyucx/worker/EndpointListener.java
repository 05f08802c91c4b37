// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

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
}
