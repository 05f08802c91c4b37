// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * An endless stream of bytes that follows from its seed, so that a receiver can check each byte without anybody
 * keeping them. For one thread.
 */
public final class SeededBytes {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int CHUNK = 16 * 1024;

    private final long seed;
    private final byte[] expected = new byte[CHUNK];
    private final byte[] actual = new byte[CHUNK];

    public SeededBytes(long seed) {
        this.seed = seed;
    }

    /** The bytes from {@code position} on. */
    public byte[] at(long position, int length) {
        byte[] bytes = new byte[length];
        fill(position, bytes, length);
        return bytes;
    }

    private void fill(long position, byte[] target, int length) {
        int i = 0;
        for (; i < length && (position + i & 7) != 0; i++) {
            target[i] = byteAt(position + i);
        }
        for (; i + 8 <= length; i += 8) {
            LONGS.set(target, i, word(position + i >>> 3));
        }
        for (; i < length; i++) {
            target[i] = byteAt(position + i);
        }
    }

    private byte byteAt(long position) {
        return (byte) (word(position >>> 3) >>> (position & 7) * 8);
    }

    /** SplitMix64. */
    private long word(long index) {
        long z = seed + index * 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }

    /**
     * Reads all of {@code buffer}, which has to be the stream from {@code position} on.
     *
     * @throws AssertionError at the first wrong byte
     */
    public void check(long position, ByteBuf buffer) {
        long at = position;
        while (buffer.isReadable()) {
            int length = Math.min(buffer.readableBytes(), CHUNK);
            buffer.readBytes(actual, 0, length);
            fill(at, expected, length);
            int wrong = Arrays.mismatch(expected, 0, length, actual, 0, length);
            if (wrong >= 0) {
                throw new AssertionError("wrong byte at " + (at + wrong) + " of the stream: " + actual[wrong]
                        + " instead of " + expected[wrong] + ", in a buffer with bytes " + position + " to "
                        + (at + length + buffer.readableBytes()) + found(actual, wrong, length));
            }
            at += length;
        }
    }

    /** Where else in the stream the wrong bytes come from, if they are whole words: lost, repeated and swapped ones. */
    private String found(byte[] bytes, int from, int length) {
        for (int i = from; i + 8 <= Math.min(length, from + 16); i++) {
            long word = (long) LONGS.get(bytes, i);
            for (long index = 0; index < 16 * 1024 * 1024; index++) {
                if (word(index) == word) {
                    return "; these bytes stand at " + (index * 8 - (i - from)) + " of the stream";
                }
            }
        }
        return "; these bytes are from nowhere in the stream's first 128 MiB";
    }
}
