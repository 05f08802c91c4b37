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
        /** It has come, and waits for what was asked before. */
        KEPT,
        /** Bytes are being received. */
        RECEIVING,
        /** All is there. */
        READY
    }

    State state;
    /** Whether bytes of puts behind it wait for it: it is no put without a notification, or not known to be one. */
    boolean fence;
    int number;
    int frame;
    long frameLength;
    int kind;
    long offset;
    long length;
    ServedOpenings.Opening opening;
    /** {@code null}: nothing speaks against it. */
    Reason refusal;
    /** Has come, and nobody has received it; 0: none. */
    long message;
    long messageLength;
}
