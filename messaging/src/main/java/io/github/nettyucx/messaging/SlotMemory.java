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

    /**
     * The binary logarithm of the smallest, in bytes, and of what no frame is larger than. The largest have as many bytes as
     * {@link Fragments#LIMIT}, which is little more than half of that.
     */
    private static final int SMALLEST = 6;
    private static final int LARGEST = 17;

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
        if (length > Fragments.LIMIT) {
            return Arena.ofAuto().allocate(length, Frame.ALIGNMENT);
        }
        int size = size(length);
        MemorySegment known = free[size - SMALLEST].poll();
        if (known == null) {
            return Arena.ofAuto().allocate(Math.min(1L << size, Fragments.LIMIT), Frame.ALIGNMENT);
        }
        kept.addAndGet(-known.byteSize());
        return known;
    }

    private static int size(int length) {
        return Math.max(SMALLEST, Integer.SIZE - Integer.numberOfLeadingZeros(length - 1));
    }

    /** @param memory that {@link #take} has given, and that nobody writes to any more */
    void give(MemorySegment memory) {
        long bytes = memory.byteSize();
        if (bytes > Fragments.LIMIT) {
            return;
        }
        if (kept.addAndGet(bytes) > most) {
            // Left to the garbage collector.
            kept.addAndGet(-bytes);
            return;
        }
        free[size((int) bytes) - SMALLEST].add(memory);
    }
}
