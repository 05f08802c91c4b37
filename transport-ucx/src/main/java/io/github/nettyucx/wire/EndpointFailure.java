// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;

import java.io.IOException;
import java.net.SocketException;

/** Puts UCX's reasons into the exceptions that applications know from TCP. */
final class EndpointFailure {

    private EndpointFailure() {
    }

    static IOException of(int status) {
        return new SocketException(isReset(status) ? "Connection reset by peer"
                : "Connection lost: " + UcsStatus.name(status));
    }

    /** The two mean the same, depending on which lane notices first. */
    static boolean isReset(int status) {
        return status == UcsStatus.ERR_CONNECTION_RESET || status == UcsStatus.ERR_ENDPOINT_TIMEOUT;
    }
}
