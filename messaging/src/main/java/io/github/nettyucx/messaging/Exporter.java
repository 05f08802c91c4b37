// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Writes values into a message, straight into the memory that it is sent from. Numbers are little-endian. Arrays and strings
 * have their length before them, in 4 bytes.
 * <p>
 * Valid only in the call of {@link Codec#write} that it is given to.
 */
public final class Exporter {

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Gives room for more of a message that does not fit into one frame. */
    interface More {

        /** Sets the {@link #window} to the next room. */
        void next();
    }

    private MemorySegment memory;
    private long at;
    private long end;
    private More more;

    Exporter() {
    }

    /**
     * Where values are written from now on.
     *
     * @param more is asked when the end is reached, or {@code null} if the message has to end there
     */
    void window(MemorySegment memory, long begin, long end, More more) {
        this.memory = memory;
        this.at = begin;
        this.end = end;
        this.more = more;
    }

    /** Bytes of the window that have not been written. */
    long left() {
        return end - at;
    }

    // ------------------------------------------------------------------------------------------- sizes

    /** Bytes that a string takes: 4, and those of UTF-8. */
    public static int sizeOf(CharSequence value) {
        return Math.addExact(4, utf8Bytes(value));
    }

    /** As many as {@link #putString} writes, whatever there is in the string. */
    private static int utf8Bytes(CharSequence value) {
        int length = value.length();
        long bytes = length;
        for (int i = 0; i < length; i++) {
            char c = value.charAt(i);
            if (c < 0x80) {
                continue;
            }
            if (c < 0x800) {
                bytes++;
            } else if (!Character.isSurrogate(c)) {
                bytes += 2;
            } else if (isPair(value, i, length)) {
                // 4 for both.
                bytes += 2;
                i++;
            }
        }
        return Math.toIntExact(bytes);
    }

    private static boolean isPair(CharSequence value, int at, int length) {
        return Character.isHighSurrogate(value.charAt(at)) && at + 1 < length
                && Character.isLowSurrogate(value.charAt(at + 1));
    }

    /** Bytes that an array takes: 4, and its own. */
    public static int sizeOf(byte[] value) {
        return 4 + value.length;
    }

    /** Bytes that an array takes: 4, and 2 for each. */
    public static int sizeOf(short[] value) {
        return Math.addExact(4, Math.multiplyExact(2, value.length));
    }

    /** Bytes that an array takes: 4, and 2 for each. */
    public static int sizeOf(char[] value) {
        return Math.addExact(4, Math.multiplyExact(2, value.length));
    }

    /** Bytes that an array takes: 4, and 4 for each. */
    public static int sizeOf(int[] value) {
        return Math.addExact(4, Math.multiplyExact(4, value.length));
    }

    /** Bytes that an array takes: 4, and 4 for each. */
    public static int sizeOf(float[] value) {
        return Math.addExact(4, Math.multiplyExact(4, value.length));
    }

    /** Bytes that an array takes: 4, and 8 for each. */
    public static int sizeOf(long[] value) {
        return Math.addExact(4, Math.multiplyExact(8, value.length));
    }

    /** Bytes that an array takes: 4, and 8 for each. */
    public static int sizeOf(double[] value) {
        return Math.addExact(4, Math.multiplyExact(8, value.length));
    }

    // ------------------------------------------------------------------------------------------- primitives

    /** 1 byte. */
    public void putByte(int value) {
        if (at == end) {
            next();
        }
        memory.set(ValueLayout.JAVA_BYTE, at++, (byte) value);
    }

    /** 1 byte. */
    public void putBoolean(boolean value) {
        putByte(value ? 1 : 0);
    }

    /** 2 bytes. */
    public void putShort(int value) {
        if (end - at < 2) {
            putByte(value);
            putByte(value >> 8);
            return;
        }
        memory.set(SHORT, at, (short) value);
        at += 2;
    }

    /** 2 bytes. */
    public void putChar(char value) {
        putShort(value);
    }

    /** 4 bytes. */
    public void putInt(int value) {
        if (end - at < 4) {
            putShort(value);
            putShort(value >> 16);
            return;
        }
        memory.set(INT, at, value);
        at += 4;
    }

    /** 8 bytes. */
    public void putLong(long value) {
        if (end - at < 8) {
            putInt((int) value);
            putInt((int) (value >> 32));
            return;
        }
        memory.set(LONG, at, value);
        at += 8;
    }

    /** 4 bytes. */
    public void putFloat(float value) {
        putInt(Float.floatToRawIntBits(value));
    }

    /** 8 bytes. */
    public void putDouble(double value) {
        putLong(Double.doubleToRawLongBits(value));
    }

    // ------------------------------------------------------------------------------------------- arrays

    /** The array, with its length; {@link Importer#getBytes()} reads it. */
    public void putBytes(byte[] value) {
        putInt(value.length);
        putRaw(value, 0, value.length);
    }

    /** A part of an array, without its length; {@link Importer#getRaw} reads it. */
    public void putRaw(byte[] value, int offset, int length) {
        int done = 0;
        while (done < length) {
            int part = part(length - done);
            MemorySegment.copy(value, offset + done, memory, ValueLayout.JAVA_BYTE, at, part);
            at += part;
            done += part;
        }
    }

    /** The readable bytes of a buffer, without their number; the buffer and its indexes stay as they are. */
    public void putBuffer(ByteBuf value) {
        int index = value.readerIndex();
        int left = value.readableBytes();
        while (left > 0) {
            int part = part(left);
            if (value.hasArray()) {
                MemorySegment.copy(value.array(), value.arrayOffset() + index, memory, ValueLayout.JAVA_BYTE, at, part);
            } else {
                value.getBytes(index, memory.asSlice(at, part).asByteBuffer());
            }
            at += part;
            index += part;
            left -= part;
        }
    }

    /** The array, with its length. */
    public void putShorts(short[] value) {
        putInt(value.length);
        if (left() >= 2L * value.length) {
            MemorySegment.copy(value, 0, memory, SHORT, at, value.length);
            at += 2L * value.length;
            return;
        }
        for (short each : value) {
            putShort(each);
        }
    }

    /** The array, with its length. */
    public void putChars(char[] value) {
        putInt(value.length);
        for (char each : value) {
            putShort(each);
        }
    }

    /** The array, with its length. */
    public void putInts(int[] value) {
        putInt(value.length);
        if (left() >= 4L * value.length) {
            MemorySegment.copy(value, 0, memory, INT, at, value.length);
            at += 4L * value.length;
            return;
        }
        for (int each : value) {
            putInt(each);
        }
    }

    /** The array, with its length. */
    public void putFloats(float[] value) {
        putInt(value.length);
        for (float each : value) {
            putFloat(each);
        }
    }

    /** The array, with its length. */
    public void putLongs(long[] value) {
        putInt(value.length);
        if (left() >= 8L * value.length) {
            MemorySegment.copy(value, 0, memory, LONG, at, value.length);
            at += 8L * value.length;
            return;
        }
        for (long each : value) {
            putLong(each);
        }
    }

    /** The array, with its length. */
    public void putDoubles(double[] value) {
        putInt(value.length);
        for (double each : value) {
            putDouble(each);
        }
    }

    // ------------------------------------------------------------------------------------------- objects

    /** In UTF-8, with the number of its bytes. A surrogate without the other becomes a question mark. */
    public void putString(CharSequence value) {
        int length = value.length();
        putInt(utf8Bytes(value));
        for (int i = 0; i < length; i++) {
            char c = value.charAt(i);
            if (c < 0x80) {
                putByte(c);
            } else if (c < 0x800) {
                putByte(0xC0 | c >> 6);
                putByte(0x80 | c & 0x3F);
            } else if (!Character.isSurrogate(c)) {
                putByte(0xE0 | c >> 12);
                putByte(0x80 | c >> 6 & 0x3F);
                putByte(0x80 | c & 0x3F);
            } else if (isPair(value, i, length)) {
                int code = Character.toCodePoint(c, value.charAt(++i));
                putByte(0xF0 | code >> 18);
                putByte(0x80 | code >> 12 & 0x3F);
                putByte(0x80 | code >> 6 & 0x3F);
                putByte(0x80 | code & 0x3F);
            } else {
                putByte('?');
            }
        }
    }

    /** An object in the object, as its codec writes it; {@link Importer#getObject} reads it. */
    public <T> void putObject(T value, Codec<? super T> codec) {
        codec.write(value, this);
    }

    // ------------------------------------------------------------------------------------------- windows

    private int part(int wanted) {
        if (at == end) {
            next();
        }
        return (int) Math.min(wanted, end - at);
    }

    private void next() {
        if (more == null) {
            throw new IndexOutOfBoundsException("the codec writes more bytes than its size() has said");
        }
        more.next();
    }
}
