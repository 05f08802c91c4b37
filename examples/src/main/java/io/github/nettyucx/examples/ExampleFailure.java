// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

/** A run that went wrong in a way its message explains to the user; shown without a stack trace, exit code 1. */
public final class ExampleFailure extends RuntimeException {
    public ExampleFailure(String message) {
        super(message);
    }

    public ExampleFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
