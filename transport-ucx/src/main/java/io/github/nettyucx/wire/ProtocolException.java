// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import java.io.IOException;

/** The peer breaks the protocol. Its connection is closed. */
public final class ProtocolException extends IOException {

    private static final long serialVersionUID = 1L;

    private final boolean isLoss;

    public ProtocolException(String message) {
        this(message, false);
    }

    private ProtocolException(String message, boolean isLoss) {
        super(message);
        this.isLoss = isLoss;
    }

    /** @param what is missing, in a clause of its own: "messages are missing" */
    public static ProtocolException ofLoss(String what) {
        return new ProtocolException(what + ": UCX loses them where a host has no shared memory left", true);
    }

    /** Whether it is not the peer that breaks it: UCX has lost messages of his. */
    boolean isLoss() {
        return isLoss;
    }
}
