// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.github.nettyucx.examples.ExampleFailure;
import io.netty.buffer.ByteBuf;

/**
 * What a message contains: a pattern in which every byte depends on its position and on the connection, and the number
 * of the round trip in its first and last eight bytes (as far as there is room). A reply that is stale, shifted or
 * somebody else's then shows.
 */
final class PingPongMessage {
    private PingPongMessage() {
    }

    /** Fills an empty buffer with the pattern, up to {@code size} bytes. */
    static void fill(ByteBuf message, int size, long connection) {
        for (var at = 0; at < size; at += Long.BYTES) {
            var word = word(connection, at);
            if (size - at >= Long.BYTES) {
                message.writeLong(word);
            } else {
                for (var i = 0; i < size - at; i++) {
                    message.writeByte(byteOf(word, i));
                }
            }
        }
    }

    static void number(ByteBuf message, int size, long sequence) {
        if (size < Long.BYTES) {
            for (var i = 0; i < size; i++) {
                message.setByte(i, byteOf(sequence, Long.BYTES - size + i));
            }
            return;
        }
        message.setLong(0, sequence);
        if (size >= 2 * Long.BYTES) {
            message.setLong(size - Long.BYTES, ~sequence);
        }
    }

    /** Compares the two ends only: cheap enough for every round trip. */
    static void checkNumber(ByteBuf reply, int size, long sequence) {
        var start = reply.readerIndex();
        if (size < Long.BYTES) {
            for (var i = 0; i < size; i++) {
                check(reply.getByte(start + i), byteOf(sequence, Long.BYTES - size + i), i, sequence);
            }
            return;
        }
        check(reply.getLong(start), sequence, 0, sequence);
        if (size >= 2 * Long.BYTES) {
            check(reply.getLong(start + size - Long.BYTES), ~sequence, size - Long.BYTES, sequence);
        }
    }

    /** Compares every byte with the message that was sent. */
    static void checkAll(ByteBuf reply, ByteBuf message, long sequence) {
        var start = reply.readerIndex();
        var size = message.readableBytes();
        for (var i = 0; i < size; i++) {
            check(reply.getByte(start + i), message.getByte(message.readerIndex() + i), i, sequence);
        }
    }

    private static void check(long actual, long expected, int at, long sequence) {
        if (actual != expected) {
            throw new ExampleFailure("the reply of round trip " + sequence + " differs from its request at byte " + at
                    + ": " + Long.toHexString(actual) + " in place of " + Long.toHexString(expected));
        }
    }

    private static byte byteOf(long word, int index) {
        return (byte) (word >>> (Long.SIZE - Byte.SIZE * (index + 1)));
    }

    /** The finalizer of SplitMix64: neighbours share nothing. */
    private static long word(long connection, int position) {
        var z = (connection << 32 | position) + 0x9e3779b97f4a7c15L;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }
}
