// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.worker.BufferAddress;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Native memory of which is known whether it is still somebody's, so that using it late is an error, not a crash. */
final class TrackedMemory {

    // Not pooled: a released buffer object is never used again, so it can be told from one at the same address.
    private static final UnpooledByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(true, true);

    private final TreeMap<Long, ByteBuf> byAddress = new TreeMap<>();
    private final List<ByteBuf> all = new ArrayList<>();

    ByteBuf allocate(int capacity) {
        return tracked(ALLOCATOR.directBuffer(capacity));
    }

    /** @param released is run when the buffer has been released, as a buffer of an application's can have it */
    ByteBuf allocate(int capacity, Runnable released) {
        return tracked(new UnpooledDirectByteBuf(ALLOCATOR, capacity, capacity) {
            @Override
            protected void deallocate() {
                super.deallocate();
                released.run();
            }
        });
    }

    private ByteBuf tracked(ByteBuf buffer) {
        int capacity = buffer.capacity();
        long address = addressOf(buffer);
        // What lay there before has been freed.
        byAddress.subMap(address, address + capacity).clear();
        byAddress.put(address, buffer);
        all.add(buffer);
        return buffer;
    }

    static long addressOf(ByteBuf buffer) {
        return BufferAddress.of(buffer, 0, buffer.capacity());
    }

    /** The memory at an address that has been given to UCX. */
    Range at(long address, long length) {
        Map.Entry<Long, ByteBuf> entry = byAddress.floorEntry(address);
        if (entry == null) {
            throw new AssertionError("nobody allocated 0x" + Long.toHexString(address));
        }
        Range range = new Range(entry.getValue(), entry.getKey(), (int) (address - entry.getKey()), (int) length);
        range.check();
        return range;
    }

    void assertReleased() {
        for (ByteBuf buffer : all) {
            assertEquals(0, buffer.refCnt(), () -> "not released: " + buffer);
        }
    }

    /** A part of a buffer that UCX reads or writes. */
    record Range(ByteBuf buffer, long base, int index, int length) {

        void check() {
            assertTrue(buffer.refCnt() > 0, "memory in use has been released");
            assertEquals(base, addressOf(buffer), "memory in use has been moved");
            assertTrue(index + length <= buffer.capacity(), () -> "bytes " + index + " to " + (index + length)
                    + " are not all inside of " + buffer);
        }

        byte[] read() {
            check();
            byte[] bytes = new byte[length];
            buffer.getBytes(index, bytes);
            return bytes;
        }

        void write(byte[] bytes) {
            check();
            assertEquals(length, bytes.length);
            buffer.setBytes(index, bytes);
        }

        boolean overlaps(Range other) {
            return buffer == other.buffer && index < other.index + other.length && other.index < index + length;
        }
    }
}
