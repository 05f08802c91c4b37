// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/** A lane cannot be had; the message says why, and is told to the peer. The connection may take another lane. */
public final class LinkException extends Exception {

    private static final long serialVersionUID = 1L;

    public LinkException(String message) {
        super(message);
    }
}
