// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

/** One side of a link, pinned: it stays until it is released. For the event loop's thread. */
public interface LinkHalf {

    /** Random, of this half; not 0. */
    long number();

    /** The address of the worker that this half belongs to, for the other side: 1 to 8192 bytes. */
    byte[] address();

    /** Gives back one pin. Each pin has to be released once. */
    void release();
}
