// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import java.io.IOException;

/** The peer breaks the protocol. Its connection is closed. */
public final class ProtocolException extends IOException {

    private static final long serialVersionUID = 1L;

    public ProtocolException(String message) {
        super(message);
    }

    /** @param what is missing, in a clause of its own: "messages are missing" */
    public static ProtocolException ofLoss(String what) {
        return new ProtocolException(what + ": UCX loses them where a host has no shared memory left");
    }
}
