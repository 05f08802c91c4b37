// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.memory.UcxMemoryException.Reason;

/** One request of a peer's, from its arrival to its execution; see {@link MemoryServing}. It is received in one or two parts. */
final class Job extends Requests.Request {

    enum State {
        /** The request itself is being received. */
        ARRIVING,
        /** The message with the bytes has not come. */
        WAITING,
        /** Bytes are being received. */
        RECEIVING,
        /** All is there. */
        READY
    }

    State state;
    int number;
    int frame;
    long frameLength;
    int kind;
    long offset;
    long length;
    ServedOpenings.Opening opening;
    /** {@code null}: nothing speaks against it. */
    Reason refusal;
    /** Has come while the request was arriving; 0: none. */
    long message;
    long messageLength;
}
