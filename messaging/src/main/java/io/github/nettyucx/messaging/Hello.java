// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * The first frame of a connection, in both directions.
 *
 * @param node        who says it
 * @param wanted      whom he wants to talk to, or {@link #ANYBODY}
 * @param incarnation a random number that a node has until it ends
 */
record Hello(int node, int wanted, long incarnation) {

    static final int ANYBODY = -1;
    static final int VERSION = 1;
    /** "NUM" and a zero. */
    private static final int MAGIC = 0x004D554E;
    private static final int LENGTH = Frame.HEADER + 24;

    ByteBuf encode(ByteBufAllocator allocator) {
        ByteBuf frame = allocator.directBuffer(LENGTH);
        frame.writeLongLE(Frame.word(LENGTH, Frame.HELLO, 0));
        frame.writeIntLE(MAGIC).writeIntLE(VERSION).writeIntLE(node).writeIntLE(wanted).writeLongLE(incarnation);
        return frame;
    }

    /** @throws IllegalArgumentException if it is none */
    static Hello decode(ByteBuf buffer, int begin, int end) {
        if (end - begin < LENGTH - Frame.HEADER || buffer.getIntLE(begin) != MAGIC) {
            throw new IllegalArgumentException("no HELLO of a node: who is it that has connected?");
        }
        int version = buffer.getIntLE(begin + 4);
        if (version != VERSION) {
            throw new IllegalArgumentException("the peer has version " + version + " of this protocol (expected: " + VERSION
                    + "): both nodes need the same release");
        }
        Hello hello = new Hello(buffer.getIntLE(begin + 8), buffer.getIntLE(begin + 12), buffer.getLongLE(begin + 16));
        if (hello.node < 0) {
            throw new IllegalArgumentException("a node with the id " + hello.node + " (expected: 0 or more)");
        }
        return hello;
    }
}
