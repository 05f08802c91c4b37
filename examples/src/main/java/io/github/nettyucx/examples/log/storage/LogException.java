// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import java.io.IOException;

/** The files of a log are not what they have to be, or hold no such record. The message says what to do. */
public final class LogException extends IOException {
    private static final long serialVersionUID = 1L;

    public LogException(String message) {
        super(message);
    }
}
