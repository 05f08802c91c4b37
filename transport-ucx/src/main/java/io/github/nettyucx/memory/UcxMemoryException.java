// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import java.io.IOException;

/** An operation on a peer's memory is refused. Nothing has been read or written. */
public final class UcxMemoryException extends IOException {

    private static final long serialVersionUID = 1L;

    /** Why. */
    public enum Reason {
        /** The key is not what an owner has exported: other bytes, or a part of them. */
        DAMAGED_KEY(1, "the key is damaged: it is not what the owner of the memory has exported"),
        /** The peer of this channel has no such memory: it is another process's, or it has gone. */
        UNKNOWN_KEY(2, "the peer has no memory with this key: open it on a channel to the process that exported it, and"
                + " while the memory is there"),
        /** The owner has revoked it. */
        REVOKED(3, "the owner has revoked the memory"),
        /** This side has closed it. */
        CLOSED(4, "the memory has been closed by this side"),
        /** The offset, or the end of what is meant, lies outside. */
        OUT_OF_RANGE(5, "outside of the memory"),
        /** The key does not give the right. */
        NO_RIGHT(6, "the key does not give this right"),
        /** An atomic operation needs an offset that 8 divides. */
        MISALIGNED(7, "the offset of an atomic operation has to be divisible by 8"),
        /** More is asked for at a time than a connection has room for. */
        TOO_MANY(8, "too much is under way on this connection, or too many memories are open: wait for some of it to be done, or"
                + " close some");

        private final int code;
        private final String text;

        Reason(int code, String text) {
            this.code = code;
            this.text = text;
        }

        /** What a peer is told; 0 stands for none of them. */
        int code() {
            return code;
        }

        String text() {
            return text;
        }

        /** @return {@code null} for a code that does not exist */
        static Reason of(int code) {
            return code < 1 || code > values().length ? null : values()[code - 1];
        }
    }

    private final Reason reason;

    UcxMemoryException(Reason reason) {
        this(reason, reason.text());
    }

    UcxMemoryException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
