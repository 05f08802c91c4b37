// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;

import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;

/** Puts UCX's reasons into the exceptions that applications know from TCP. */
final class EndpointFailure {

    private EndpointFailure() {
    }

    static IOException whileConnecting(int status) {
        return switch (status) {
            // Nothing can be reset before it is made; over tcp UCX 1.22 calls one refusal in five so.
            case UcsStatus.ERR_NOT_CONNECTED, UcsStatus.ERR_CONNECTION_RESET, UcsStatus.ERR_ENDPOINT_TIMEOUT ->
                    new ConnectException("Connection refused");
            case UcsStatus.ERR_REJECTED -> new ConnectException("Connection rejected by the peer's transport");
            case UcsStatus.ERR_UNREACHABLE -> new NoRouteToHostException(
                    "Host unreachable: no UCX transport reaches it (" + UcsStatus.name(status) + ')');
            default -> new ConnectException("Connection failed: " + UcsStatus.name(status));
        };
    }

    static IOException whileGreeting(int status) {
        return new ConnectException("Connection closed by the peer during the handshake: "
                + UcsStatus.name(status));
    }

    static IOException ofOpenConnection(int status) {
        return switch (status) {
            // The two mean the same, depending on which lane notices first.
            case UcsStatus.ERR_CONNECTION_RESET, UcsStatus.ERR_ENDPOINT_TIMEOUT ->
                    new SocketException("Connection reset by peer");
            default -> new SocketException("Connection lost: " + UcsStatus.name(status));
        };
    }
}
