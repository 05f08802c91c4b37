// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.ErrorCode;
import java.io.IOException;

/** The broker has refused a request; the message says why, and what to do. */
public final class BrokerException extends IOException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    BrokerException(ErrorCode code, String text) {
        super(text);
        this.code = code;
    }

    public ErrorCode code() {
        return code;
    }
}
