// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.net.ConnectException;

/** A connection was not made. */
public final class HandshakeException extends ConnectException {

    private static final long serialVersionUID = 1L;

    private final HandshakeFailure reason;
    private final boolean ofPeer;

    public HandshakeException(HandshakeFailure reason, String message) {
        this(reason, message, null);
    }

    /** @param cause may be null */
    public HandshakeException(HandshakeFailure reason, String message, Throwable cause) {
        this(reason, message, cause, false);
    }

    private HandshakeException(HandshakeFailure reason, String message, Throwable cause, boolean ofPeer) {
        super(message);
        initCause(cause);
        this.reason = reason;
        this.ofPeer = ofPeer;
    }

    /** The peer has said so. */
    static HandshakeException ofPeer(HandshakeFailure reason, String message) {
        return new HandshakeException(reason, message, null, true);
    }

    static HandshakeException violation(String message) {
        return new HandshakeException(HandshakeFailure.PROTOCOL_VIOLATION, message);
    }

    /** The same, with more to say. */
    HandshakeException withMore(String text) {
        return new HandshakeException(reason, getMessage() + "; " + text, getCause(), ofPeer);
    }

    public HandshakeFailure reason() {
        return reason;
    }

    /** Whether the peer refused, and said why; otherwise this side found it. */
    public boolean ofPeer() {
        return ofPeer;
    }
}
