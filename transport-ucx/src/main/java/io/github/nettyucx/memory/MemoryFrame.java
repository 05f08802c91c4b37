// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.ucp.NativeMemory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** How requests and answers lie in memory. Numbers are in network byte order. */
final class MemoryFrame {

    /** No frame is longer, in bytes. */
    static final int MAX_LENGTH = 256;
    /** Operations of one connection, in one direction, that may be under way at a time. */
    static final int MAX_OPERATIONS = 65_536;
    /**
     * Requests of one peer that have not been executed, and answers to it that UCX has not completed, that are kept at a
     * time. An answer can be at the asker's, who asks for the next thing, before this side learns of it: so twice as many
     * as an asker may have under way.
     */
    static final int MAX_UNTAKEN = 2 * MAX_OPERATIONS;
    /** Keys that may be open on one connection, in one direction, at a time. */
    static final int MAX_OPENINGS = 4096;
    /**
     * Bytes of puts of one peer that have come and wait for what was asked before. If the memory has more, then as many as
     * that: who puts to one memory, and not over what is under way, never has more waiting. These are not what UCX holds for
     * them: over shared memory a segment of 8 KiB for each, however short.
     */
    static final long MAX_KEPT = 64 << 20;

    // Requests.
    static final int OPEN = 1;
    static final int PUT = 2;
    static final int GET = 3;
    static final int ADD = 4;
    static final int SWAP = 5;
    /** Bytes were put without the owner's help. */
    static final int NOTIFY = 6;
    /** The sender does nothing more with what it has opened. */
    static final int CLOSE = 7;

    /** Flag: the owner's application is to be told. */
    static final int NOTIFYING = 1;

    static final int KIND_AT = 0;
    static final int FLAGS_AT = 1;
    static final int HANDLE_AT = 4;
    static final int OFFSET_AT = 8;
    static final int LENGTH_AT = 16;
    /** The notification; what is added; what is expected. */
    static final int VALUE_AT = 24;
    /** What is stored. */
    static final int UPDATE_AT = 32;
    static final int REQUEST_LENGTH = 40;
    /** So many bytes that are put go in the request itself. */
    static final int MAX_INLINE = MAX_LENGTH - REQUEST_LENGTH;
    static final int KEY_AT = 8;
    static final int OPEN_LENGTH = KEY_AT + MemoryKey.LENGTH;

    // Answers.
    static final int REASON_AT = 0;
    static final int PREVIOUS_AT = 8;
    static final int ANSWER_LENGTH = 16;
    static final int OPENED_LENGTH_AT = 8;
    static final int OPENED_RIGHTS_AT = 1;
    static final int OPENED_ADDRESS_AT = 16;
    static final int SHARED_KEY_AT = 24;
    static final int MAX_SHARED_KEY = MAX_LENGTH - SHARED_KEY_AT;

    private static final MemorySegment ALL = NativeMemory.all();
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private MemoryFrame() {
    }

    static int getByte(long address) {
        return ALL.get(ValueLayout.JAVA_BYTE, address) & 0xff;
    }

    static void putByte(long address, int value) {
        ALL.set(ValueLayout.JAVA_BYTE, address, (byte) value);
    }

    static int getInt(long address) {
        return ALL.get(INT, address);
    }

    static void putInt(long address, int value) {
        ALL.set(INT, address, value);
    }

    static long getLong(long address) {
        return ALL.get(LONG, address);
    }

    static void putLong(long address, long value) {
        ALL.set(LONG, address, value);
    }

    static byte[] getBytes(long address, int length) {
        byte[] bytes = new byte[length];
        MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, address, bytes, 0, length);
        return bytes;
    }

    static void putBytes(long address, byte[] bytes) {
        MemorySegment.copy(bytes, 0, ALL, ValueLayout.JAVA_BYTE, address, bytes.length);
    }

    static void copy(long from, long to, long length) {
        MemorySegment.copy(ALL, from, ALL, to, length);
    }

    /** Writes all of a request but what follows {@link #REQUEST_LENGTH}. */
    static void request(long address, int kind, int flags, int handle, long offset, long length, long value,
                        long update) {
        putLong(address, 0);
        putByte(address + KIND_AT, kind);
        putByte(address + FLAGS_AT, flags);
        putInt(address + HANDLE_AT, handle);
        putLong(address + OFFSET_AT, offset);
        putLong(address + LENGTH_AT, length);
        putLong(address + VALUE_AT, value);
        putLong(address + UPDATE_AT, update);
    }
}
