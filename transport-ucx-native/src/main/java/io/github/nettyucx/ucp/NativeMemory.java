// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Reads and writes native memory at a plain address, which costs no allocation. As with any pointer, the caller
 * answers for the address.
 */
public final class NativeMemory {

    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private NativeMemory() {
    }

    /**
     * All of the process's memory, by its addresses. Here, so that only the binding has to be allowed what the JVM calls
     * restricted.
     */
    public static MemorySegment all() {
        return ALL;
    }

    static long getLong(long address) {
        return ALL.get(ValueLayout.JAVA_LONG, address);
    }

    static void putLong(long address, long value) {
        ALL.set(ValueLayout.JAVA_LONG, address, value);
    }

    static int getInt(long address) {
        return ALL.get(ValueLayout.JAVA_INT, address);
    }

    static void putInt(long address, int value) {
        ALL.set(ValueLayout.JAVA_INT, address, value);
    }

    /** Copies the zero-terminated UTF-8 string at {@code address}; {@code null} for a null pointer. */
    static String getString(long address) {
        return address == 0 ? null : ALL.getString(address);
    }

    static byte[] getBytes(long address, long length) {
        return ALL.asSlice(address, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /**
     * A view of memory that is somebody else's, which any thread can use until {@code arena} is closed. What is behind
     * it must stay until then.
     */
    public static MemorySegment view(long address, long length, Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(length, arena, null);
    }

    /** A view of foreign memory, which stays valid only as long as that memory does. */
    static MemorySegment segment(long address, long length) {
        return MemorySegment.ofAddress(address).reinterpret(length);
    }
}
