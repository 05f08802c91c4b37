// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.netty.buffer.ByteBuf;

/**
 * What follows on a connection: the client announces it with a header, then both sides know what to do. The next one
 * may begin when this one is over.
 *
 * @param size of a message, in bytes
 * @param flush messages between two flushes of whoever sends
 * @param count of messages in each direction that is used
 */
record Phase(Kind kind, int size, int flush, long count) {
    /** Of a header, in bytes. */
    static final int HEADER = Byte.BYTES + Integer.BYTES + Integer.BYTES + Long.BYTES;
    /** What the server says when all messages of a phase without replies have arrived, in bytes. */
    static final int ACKNOWLEDGEMENT = 1;
    /** A count that is never reached: such a phase ends with its connection. */
    static final long ENDLESS = Long.MAX_VALUE;

    enum Kind {
        /** The server returns each message, when all of it has arrived. */
        ECHO,
        /** The server counts, and acknowledges the last message. */
        TO_SERVER,
        /** As {@link #TO_SERVER}, and the server sends as many messages itself, at the same time. */
        BOTH_WAYS
    }

    void encode(ByteBuf out) {
        out.writeByte(kind.ordinal()).writeInt(size).writeInt(flush).writeLong(count);
    }

    /**
     * @param in has at least {@link #HEADER} bytes
     */
    static Phase decode(ByteBuf in) {
        return new Phase(Kind.values()[in.readByte()], in.readInt(), in.readInt(), in.readLong());
    }
}
