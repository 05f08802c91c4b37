// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;

import java.nio.charset.StandardCharsets;

/**
 * Reads the values of a message as {@link Exporter} has written them. Reading behind the message's end is an
 * {@link IndexOutOfBoundsException}, and the message is not handed to its handler.
 * <p>
 * Valid only in the call of {@link Codec#read} that it is given to.
 */
public final class Importer {

    private ByteBuf buffer;
    private int at;
    private int end;

    Importer() {
    }

    void over(ByteBuf buffer, int begin, int end) {
        this.buffer = buffer;
        at = begin;
        this.end = end;
    }

    /** How many bytes of the message have not been read. */
    public int remaining() {
        return end - at;
    }

    private int advance(int bytes) {
        int begin = at;
        if (bytes < 0 || bytes > end - begin) {
            throw new IndexOutOfBoundsException("the codec reads " + bytes + " bytes, but the message has only "
                    + (end - begin) + " more: do both nodes have the same codec?");
        }
        at = begin + bytes;
        return begin;
    }

    /** How many elements an array has; checked before it is made. */
    private int count(int elementSize) {
        int count = getInt();
        if (count < 0 || (long) count * elementSize > remaining()) {
            throw new IndexOutOfBoundsException("an array of " + count + " elements of " + elementSize
                    + " bytes, but the message has only " + remaining() + " more: do both nodes have the same codec?");
        }
        return count;
    }

    public byte getByte() {
        return buffer.getByte(advance(1));
    }

    public boolean getBoolean() {
        return getByte() != 0;
    }

    public short getShort() {
        return buffer.getShortLE(advance(2));
    }

    public char getChar() {
        return (char) getShort();
    }

    public int getInt() {
        return buffer.getIntLE(advance(4));
    }

    public long getLong() {
        return buffer.getLongLE(advance(8));
    }

    public float getFloat() {
        return Float.intBitsToFloat(getInt());
    }

    public double getDouble() {
        return Double.longBitsToDouble(getLong());
    }

    /** An array with its length. */
    public byte[] getBytes() {
        byte[] value = new byte[count(1)];
        getRaw(value, 0, value.length);
        return value;
    }

    /** Fills a part of an array. */
    public void getRaw(byte[] value, int offset, int length) {
        buffer.getBytes(advance(length), value, offset, length);
    }

    /**
     * So many bytes where they are, without a copy.
     *
     * @return a buffer that the caller has to release
     */
    public ByteBuf getBuffer(int length) {
        return buffer.retainedSlice(advance(length), length);
    }

    /** An array with its length. */
    public short[] getShorts() {
        short[] value = new short[count(2)];
        for (int i = 0; i < value.length; i++) {
            value[i] = getShort();
        }
        return value;
    }

    /** An array with its length. */
    public char[] getChars() {
        char[] value = new char[count(2)];
        for (int i = 0; i < value.length; i++) {
            value[i] = getChar();
        }
        return value;
    }

    /** An array with its length. */
    public int[] getInts() {
        int[] value = new int[count(4)];
        for (int i = 0; i < value.length; i++) {
            value[i] = getInt();
        }
        return value;
    }

    /** An array with its length. */
    public float[] getFloats() {
        float[] value = new float[count(4)];
        for (int i = 0; i < value.length; i++) {
            value[i] = getFloat();
        }
        return value;
    }

    /** An array with its length. */
    public long[] getLongs() {
        long[] value = new long[count(8)];
        for (int i = 0; i < value.length; i++) {
            value[i] = getLong();
        }
        return value;
    }

    /** An array with its length. */
    public double[] getDoubles() {
        double[] value = new double[count(8)];
        for (int i = 0; i < value.length; i++) {
            value[i] = getDouble();
        }
        return value;
    }

    /** A string with its length. */
    public String getString() {
        int length = count(1);
        return buffer.toString(advance(length), length, StandardCharsets.UTF_8);
    }

    /** An object in the object, as its codec reads it. */
    public <T> T getObject(Codec<T> codec) {
        return codec.read(this);
    }
}
