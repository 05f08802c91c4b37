// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory of frames beside a ring. It is used again and again: otherwise a loop that finds the ring full now and then would leave
 * native memory behind until the garbage collector runs, which has no reason to. Any thread may call.
 */
final class SlotMemory {

    /** The binary logarithm of the smallest, in bytes, and of what no frame is larger than. */
    private static final int SMALLEST = 6;
    private static final int LARGEST = 16;

    private final ConcurrentLinkedQueue<MemorySegment>[] free = queues();
    private final AtomicLong kept = new AtomicLong();
    private final long most;

    /** @param most that is kept for later, in bytes */
    SlotMemory(long most) {
        this.most = most;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static ConcurrentLinkedQueue<MemorySegment>[] queues() {
        ConcurrentLinkedQueue<MemorySegment>[] queues = new ConcurrentLinkedQueue[LARGEST - SMALLEST + 1];
        for (int i = 0; i < queues.length; i++) {
            queues[i] = new ConcurrentLinkedQueue<>();
        }
        return queues;
    }

    /** @return so many bytes at least, at a multiple of {@link Frame#ALIGNMENT} */
    MemorySegment take(int length) {
        int size = Math.max(SMALLEST, Integer.SIZE - Integer.numberOfLeadingZeros(length - 1));
        if (size > LARGEST) {
            return Arena.ofAuto().allocate(length, Frame.ALIGNMENT);
        }
        MemorySegment known = free[size - SMALLEST].poll();
        if (known == null) {
            return Arena.ofAuto().allocate(1L << size, Frame.ALIGNMENT);
        }
        kept.addAndGet(-known.byteSize());
        return known;
    }

    /** @param memory that {@link #take} has given, and that nobody writes to any more */
    void give(MemorySegment memory) {
        long bytes = memory.byteSize();
        if (bytes > 1L << LARGEST) {
            return;
        }
        if (kept.addAndGet(bytes) > most) {
            // Left to the garbage collector.
            kept.addAndGet(-bytes);
            return;
        }
        free[Long.numberOfTrailingZeros(bytes) - SMALLEST].add(memory);
    }
}
