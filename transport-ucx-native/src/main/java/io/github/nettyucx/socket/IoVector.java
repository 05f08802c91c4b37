// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.nettyucx.socket.SocketLayouts.IoVec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** An array of {@code struct iovec}: pieces of memory that one call sends. For one thread at a time. */
public final class IoVector implements AutoCloseable {
    /** The kernel takes no more pieces in one call. */
    public static final int MAX_CAPACITY = 1024;

    /** Shared, as it may be closed by another thread than the one that made it. */
    private final Arena arena = Arena.ofShared();
    private final MemorySegment pieces;
    private final int capacity;

    /** @param capacity how many pieces, 1 to {@value #MAX_CAPACITY} */
    public IoVector(int capacity) {
        if (capacity < 1 || capacity > MAX_CAPACITY) {
            throw new IllegalArgumentException("capacity: " + capacity + " (expected: 1 to " + MAX_CAPACITY + ")");
        }
        this.capacity = capacity;
        pieces = arena.allocate((long) capacity * IoVec.SIZE, Long.BYTES);
    }

    /**
     * Says where a piece is.
     *
     * @param index 0 to {@link #capacity()} - 1
     * @param address of memory that stays where it is until the call returns
     * @param length in bytes
     */
    public void set(int index, long address, long length) {
        long offset = (long) index * IoVec.SIZE;
        pieces.set(JAVA_LONG, offset + IoVec.BASE, address);
        pieces.set(JAVA_LONG, offset + IoVec.LEN, length);
    }

    public long address() {
        return pieces.address();
    }

    public int capacity() {
        return capacity;
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
