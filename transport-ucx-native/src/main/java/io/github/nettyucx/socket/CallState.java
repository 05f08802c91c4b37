// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * What the calls of one thread need besides their arguments: where {@code errno} is kept, and memory for the structs
 * that they take. A call finds it with {@link #current}, fills in what it needs, and is done with it when it returns.
 */
final class CallState {
    /** Where a struct is written to: the largest is {@code struct group_source_req}. */
    static final int STRUCT = 0;
    static final int STRUCT_SIZE = 320;
    /** A {@code struct sockaddr_storage}. */
    static final int ADDRESS = STRUCT + STRUCT_SIZE;
    /** A {@code socklen_t}. */
    static final int LENGTH = ADDRESS + SocketLayouts.SockAddrStorage.SIZE;
    private static final int SIZE = LENGTH + 8;

    /** A thread may live longer than the application whose class this is: what it has of its own does not keep the class. */
    private static final ThreadLocal<WeakReference<CallState>> CURRENT = new ThreadLocal<>();
    /** By what the thread has: threads are not told apart by their {@code equals}, which is the application's. */
    private static final Map<WeakReference<CallState>, CallState> HELD = new WeakHashMap<>();
    // No path through the layout: for one the virtual machine would make classes when a process starts.
    private static final long ERRNO = offsetOf("errno", Linker.Option.captureStateLayout());

    /** What a handle with {@code captureCallState} takes first. */
    final MemorySegment errno;
    final MemorySegment memory;
    private final long base;
    private AddressCache addresses;

    private CallState() {
        // Given back when the thread, and with it this object, is gone.
        Arena arena = Arena.ofAuto();
        errno = arena.allocate(Linker.Option.captureStateLayout());
        memory = arena.allocate(SIZE, 8);
        base = memory.address();
    }

    private static long offsetOf(String name, StructLayout struct) {
        long offset = 0;
        for (MemoryLayout member : struct.memberLayouts()) {
            if (name.equals(member.name().orElse(null))) {
                return offset;
            }
            offset += member.byteSize();
        }
        throw new IllegalArgumentException(struct + " has no " + name);
    }

    static CallState current() {
        WeakReference<CallState> known = CURRENT.get();
        return known != null ? known.get() : begin();
    }

    private static CallState begin() {
        CallState begun = new CallState();
        WeakReference<CallState> known = new WeakReference<>(begun);
        synchronized (HELD) {
            HELD.put(known, begun);
        }
        CURRENT.set(known);
        return begun;
    }

    /** The address of what is at an offset of {@link #memory}. */
    long address(int offset) {
        return base + offset;
    }

    /** The result of a call, or the negative errno. */
    int result(int result) {
        return result >= 0 ? result : -lastErrno();
    }

    long result(long result) {
        return result >= 0 ? result : -lastErrno();
    }

    AddressCache addresses() {
        if (addresses == null) {
            addresses = new AddressCache();
        }
        return addresses;
    }

    private int lastErrno() {
        return errno.get(ValueLayout.JAVA_INT, ERRNO);
    }
}
