// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.ucp.NativeMemory;
import io.github.nettyucx.worker.BufferAddress;
import io.github.nettyucx.worker.Counters;
import io.github.nettyucx.worker.SendBuffer;
import io.github.nettyucx.worker.SendBufferPool;
import io.github.nettyucx.worker.WorkerCounter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The memory of a {@link LinkLoop}, of which is known whether it is still somebody's. */
final class LoopMemory {

    private final Counters<WorkerCounter> counters = new Counters<>(WorkerCounter.class);
    final SendBufferPool sendBuffers = new SendBufferPool(counters);
    // Not pooled: a released buffer object is never used again, so it can be told from one at the same address.
    private final TreeMap<Long, ByteBuf> byAddress = new TreeMap<>();

    ByteBuf allocate(int capacity) {
        ByteBuf buffer = Unpooled.directBuffer(capacity);
        long address = BufferAddress.of(buffer, 0, buffer.capacity());
        // What lay there before has been freed.
        byAddress.subMap(address, address + buffer.capacity()).clear();
        byAddress.put(address, buffer);
        return buffer;
    }

    /** The memory at an address that has been given to UCX. */
    Range at(long address, int length) {
        Map.Entry<Long, ByteBuf> entry = byAddress.floorEntry(address);
        boolean isBuffer = entry != null && address + length <= entry.getKey() + entry.getValue().capacity();
        Range range = new Range(address, length, isBuffer ? entry.getValue() : null, isBuffer ? entry.getKey() : 0);
        range.check();
        return range;
    }

    /** Takes all send buffers that nobody has, and one more, which is new. */
    private List<SendBuffer> takeFree() {
        List<SendBuffer> free = new ArrayList<>();
        long allocated = counters.get(WorkerCounter.SEND_BUFFERS_ALLOCATED);
        while (counters.get(WorkerCounter.SEND_BUFFERS_ALLOCATED) == allocated) {
            free.addFirst(sendBuffers.acquire());
        }
        return free;
    }

    /** Nothing uses it any more. */
    void close() {
        long kept = counters.get(WorkerCounter.SEND_BUFFERS_ALLOCATED)
                - counters.get(WorkerCounter.SEND_BUFFERS_RELEASED);
        if (kept > 0) {
            List<SendBuffer> free = takeFree();
            free.forEach(buffer -> buffer.memory().release());
            assertEquals(kept + 1, free.size(), "send buffers are not given back");
        }
    }

    /** A part that UCX reads or writes: of a buffer, or else of a send buffer. */
    final class Range {
        private final long address;
        private final int length;
        private final ByteBuf buffer;
        private final long base;

        private Range(long address, int length, ByteBuf buffer, long base) {
            this.address = address;
            this.length = length;
            this.buffer = buffer;
            this.base = base;
        }

        void check() {
            if (buffer == null) {
                checkNotFree();
            } else {
                assertTrue(buffer.refCnt() > 0, "memory in use has been released");
                assertEquals(base, BufferAddress.of(buffer, 0, buffer.capacity()), "memory in use has been moved");
            }
        }

        /** The pool would give it to the next who asks, or somebody has got it and written to it since. */
        private void checkNotFree() {
            SendBuffer free = sendBuffers.acquire();
            assertNotEquals(address, free.address(), "a send buffer in use has been given back");
            free.release();
        }

        byte[] read() {
            check();
            byte[] bytes = new byte[length];
            MemorySegment.copy(NativeMemory.all(), ValueLayout.JAVA_BYTE, address, bytes, 0, length);
            return bytes;
        }

        void write(byte[] bytes) {
            check();
            assertEquals(length, bytes.length);
            MemorySegment.copy(bytes, 0, NativeMemory.all(), ValueLayout.JAVA_BYTE, address, length);
        }
    }
}
