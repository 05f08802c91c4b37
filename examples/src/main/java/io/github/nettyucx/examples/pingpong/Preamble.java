// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.github.nettyucx.examples.ByteSize;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/** The first bytes of a connection: who is calling, and how long the messages will be. */
final class Preamble {
    static final int LENGTH = Long.BYTES;
    private static final int MAGIC = 0x50494e47;

    private Preamble() {
    }

    static ByteBuf encode(ByteBufAllocator allocator, int messageSize) {
        return allocator.buffer(LENGTH).writeInt(MAGIC).writeInt(messageSize);
    }

    /**
     * @param in has at least {@link #LENGTH} bytes
     * @return the size of a message
     */
    static int decode(ByteBuf in) {
        var magic = in.readInt();
        var size = in.readInt();
        if (magic != MAGIC || size < 1 || size > ByteSize.MAX) {
            throw new IllegalArgumentException("the caller does not speak ping-pong");
        }
        return size;
    }
}
