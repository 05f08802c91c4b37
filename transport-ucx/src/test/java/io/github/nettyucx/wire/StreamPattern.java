// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.netty.buffer.ByteBuf;

import java.util.Arrays;
import java.util.SplittableRandom;

/** The bytes of a stream: which one stands at an offset depends on the offset and on the stream. */
final class StreamPattern {

    /** A prime, so that no message size divides it. */
    private static final int PERIOD = 65_521;
    private static final int LONGEST_RUN = 128 * 1024;
    private static final byte[] BYTES = new byte[PERIOD + LONGEST_RUN];

    static {
        byte[] period = new byte[PERIOD];
        new SplittableRandom(1).nextBytes(period);
        for (int i = 0; i < BYTES.length; i++) {
            BYTES[i] = period[i % PERIOD];
        }
    }

    private final int start;

    StreamPattern(int stream) {
        start = stream;
    }

    private int at(long offset) {
        return (int) ((start + offset) % PERIOD);
    }

    void write(ByteBuf buffer, long offset, int length) {
        buffer.writeBytes(BYTES, at(offset), length);
    }

    void check(ByteBuf buffer, long offset) {
        int length = buffer.readableBytes();
        byte[] bytes = new byte[length];
        buffer.getBytes(buffer.readerIndex(), bytes);
        int from = at(offset);
        int mismatch = Arrays.mismatch(bytes, 0, length, BYTES, from, from + length);
        if (mismatch >= 0) {
            throw new AssertionError("byte " + (offset + mismatch) + " of the stream is wrong");
        }
    }
}
