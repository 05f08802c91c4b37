// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.ExampleFailure;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;

/**
 * Bytes that follow from a name and an offset: both sides know them without having told each other, from any offset on.
 *
 * @param name of the file that has them
 */
record SeededContent(String name) {
    private static final int BLOCK = 64 * 1024;

    /** Eight bytes, little end first; the finish of SplitMix64. */
    private static long word(long seed, long index) {
        var z = seed + (index + 1) * 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }

    private long seed() {
        return (long) name.hashCode() << 32;
    }

    private byte at(long offset) {
        return (byte) (word(seed(), offset >>> 3) >>> 8 * (offset & 7));
    }

    byte[] bytes(int length) {
        var bytes = new byte[length];
        for (var i = 0; i < length; i++) {
            bytes[i] = at(i);
        }
        return bytes;
    }

    void write(OutputStream out, long length) throws IOException {
        var block = ByteBuffer.allocate(BLOCK).order(ByteOrder.LITTLE_ENDIAN);
        for (var offset = 0L; offset < length; offset += BLOCK) {
            block.clear();
            for (var i = 0; i < BLOCK; i += Long.BYTES) {
                block.putLong(word(seed(), offset + i >>> 3));
            }
            out.write(block.array(), 0, (int) Math.min(BLOCK, length - offset));
        }
    }

    /** Compares what it is given, in order, with the content from that offset on. */
    Consumer<ByteBuf> comparison(long first) {
        return new Comparison(first);
    }

    private final class Comparison implements Consumer<ByteBuf> {
        private final long seed = seed();
        private long offset;

        private Comparison(long offset) {
            this.offset = offset;
        }

        @Override
        public void accept(ByteBuf part) {
            for (var bytes : part.nioBuffers()) {
                compare(bytes.order(ByteOrder.LITTLE_ENDIAN));
            }
        }

        private void compare(ByteBuffer bytes) {
            while (bytes.hasRemaining()) {
                if ((offset & 7) == 0 && bytes.remaining() >= Long.BYTES
                        && bytes.getLong(bytes.position()) == word(seed, offset >>> 3)) {
                    bytes.position(bytes.position() + Long.BYTES);
                    offset += Long.BYTES;
                } else {
                    compareOne(bytes.get());
                }
            }
        }

        private void compareOne(byte found) {
            if (found != at(offset)) {
                throw new ExampleFailure("byte " + offset + " of " + name + " is not what it should be");
            }
            offset++;
        }
    }
}
