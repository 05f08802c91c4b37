// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import java.io.IOException;

/** The peer does not speak this protocol, or breaks it. Its connection is closed. */
public final class ProtocolException extends IOException {

    private static final long serialVersionUID = 1L;

    private final HandshakeFailure refusal;

    public ProtocolException(String message) {
        this(message, HandshakeFailure.PROTOCOL_VIOLATION);
    }

    ProtocolException(String message, HandshakeFailure refusal) {
        super(message);
        this.refusal = refusal;
    }

    /** What it is if it comes before the connection is open. */
    HandshakeFailure refusal() {
        return refusal;
    }
}
