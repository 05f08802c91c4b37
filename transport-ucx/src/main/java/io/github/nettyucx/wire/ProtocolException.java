// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import java.io.IOException;

/** The peer does not speak this protocol, or breaks it. Its connection is closed. */
public final class ProtocolException extends IOException {

    private static final long serialVersionUID = 1L;

    public ProtocolException(String message) {
        super(message);
    }
}
