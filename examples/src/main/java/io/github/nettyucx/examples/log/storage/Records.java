// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * How a record lies in a segment, in a file, in memory and in messages: 4 bytes CRC32C of all that follows, 4 bytes length
 * of the whole, the payload. Both numbers are big-endian. A length of 0 means that nothing has been written there.
 */
public final class Records {
    public static final int HEADER = 8;
    /** Of one record, and of several that are produced together. */
    public static final int MAX_LENGTH = 1 << 20;
    public static final int MAX_PAYLOAD = MAX_LENGTH - HEADER;

    private static final int LENGTH_AT = 4;

    private Records() {
    }

    /** @return a direct buffer, which is the caller's */
    public static ByteBuf encode(ByteBufAllocator allocator, byte[] payload) {
        if (payload.length > MAX_PAYLOAD) {
            throw new IllegalArgumentException("payload: " + payload.length + " bytes (expected: at most " + MAX_PAYLOAD
                    + ")");
        }
        return encode(allocator.directBuffer(HEADER + payload.length), payload);
    }

    /** Adds a record to a buffer. @return the buffer */
    public static ByteBuf encode(ByteBuf target, byte[] payload) {
        return encode(target, payload, new CRC32C());
    }

    /** The same. @param crc of the caller's, who has it for the next one too */
    public static ByteBuf encode(ByteBuf target, byte[] payload, CRC32C crc) {
        var length = HEADER + payload.length;
        crc.reset();
        updateInt(crc, length);
        crc.update(payload);
        return target.writeInt((int) crc.getValue()).writeInt(length).writeBytes(payload);
    }

    private static void updateInt(CRC32C crc, int value) {
        crc.update(value >>> 24);
        crc.update(value >>> 16);
        crc.update(value >>> 8);
        crc.update(value);
    }

    /**
     * Looks at the record that begins at an index.
     *
     * @param limit where the bytes end
     * @return its length, or 0 if there is no whole, undamaged record
     */
    public static int check(ByteBuffer bytes, int at, int limit) {
        return check(bytes.duplicate(), new CRC32C(), at, limit);
    }

    /**
     * The same, of many.
     *
     * @param bytes whose position and limit are changed
     */
    private static int check(ByteBuffer bytes, CRC32C crc, int at, int limit) {
        if (limit - at < HEADER) {
            return 0;
        }
        bytes.limit(limit);
        var length = length(bytes, at);
        if (length < HEADER || length > MAX_LENGTH || length > limit - at) {
            return 0;
        }
        crc.reset();
        crc.update(bytes.limit(at + length).position(at + LENGTH_AT));
        return (int) crc.getValue() == bytes.getInt(at) ? length : 0;
    }

    /** What the record says of its length, true or not; there have to be {@link #HEADER} bytes. */
    public static int length(ByteBuffer bytes, int at) {
        return bytes.getInt(at + LENGTH_AT);
    }

    /** The same. */
    public static int length(ByteBuf bytes, int at) {
        return bytes.getInt(at + LENGTH_AT);
    }

    /**
     * The number of records that fill a part of a buffer from end to end.
     *
     * @return 0 if they do not, or one of them is damaged; {@link #fault} tells why
     */
    public static int count(ByteBuffer bytes, int from, int to) {
        var count = 0;
        var view = bytes.duplicate();
        var crc = new CRC32C();
        for (var at = from; at < to; count++) {
            var length = check(view, crc, at, to);
            if (length == 0) {
                return 0;
            }
            at += length;
        }
        return count;
    }

    /** Where the first record begins that is damaged, or cut off; the end, if none is. */
    public static int intactEnd(ByteBuffer bytes, int from, int to) {
        var at = from;
        for (int length; (length = check(bytes, at, to)) > 0;) {
            at += length;
        }
        return at;
    }

    /** In words, where {@link #count} has found none. */
    public static String fault(ByteBuffer bytes, int from, int to) {
        var at = intactEnd(bytes, from, to);
        var where = "the record at byte " + (at - from) + " of " + (to - from);
        if (to - at < HEADER) {
            return from == to ? "there is no record" : where + " is cut off: a record has at least " + HEADER + " bytes";
        }
        var length = length(bytes, at);
        return length < HEADER || length > Math.min(to - at, MAX_LENGTH)
                ? where + " says that it has " + length + " bytes (expected: " + HEADER + " to "
                        + Math.min(to - at, MAX_LENGTH) + ")"
                : where + " does not have the CRC32C that it says";
    }

    /** The end of the last record that is whole, as their lengths say; for bytes that have been checked. */
    public static int wholeRecords(ByteBuffer bytes, int from, int to) {
        var at = from;
        while (to - at >= HEADER) {
            var length = length(bytes, at);
            if (length < HEADER || length > to - at) {
                break;
            }
            at += length;
        }
        return at;
    }
}
