// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.wire.Inbound;
import io.github.nettyucx.worker.BufferAddress;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;

import java.util.Arrays;

/** Native memory for the small messages of one connection that are on their way. There are as many as were ever needed. */
final class Frames {

    private static final int PER_CHUNK_BITS = 6;
    private static final int PER_CHUNK = 1 << PER_CHUNK_BITS;
    private static final UnpooledByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(true, true);

    private final Inbound.Allocation allocation;
    private ByteBuf[] chunks = new ByteBuf[0];
    private long[] addresses = new long[0];
    private int[] free = new int[0];
    private int freeCount;

    Frames() {
        this(bytes -> ALLOCATOR.directBuffer(bytes, bytes));
    }

    /** @param allocation may throw an {@link OutOfMemoryError} */
    Frames(Inbound.Allocation allocation) {
        this.allocation = allocation;
    }

    /** @throws OutOfMemoryError if there is none, and no memory to make some */
    int acquire() {
        if (freeCount == 0) {
            grow();
        }
        return free[--freeCount];
    }

    private void grow() {
        int count = chunks.length;
        int bytes = PER_CHUNK * MemoryFrame.MAX_LENGTH;
        ByteBuf chunk = allocation.allocate(bytes);
        chunks = Arrays.copyOf(chunks, count + 1);
        addresses = Arrays.copyOf(addresses, count + 1);
        // None of them is free: nothing is lost. Doubled, because a peer that sleeps can have thousands waiting.
        if (free.length < (count + 1) * PER_CHUNK) {
            free = new int[Math.max(PER_CHUNK, 2 * free.length)];
        }
        chunks[count] = chunk;
        addresses[count] = BufferAddress.of(chunks[count], 0, bytes);
        for (int i = PER_CHUNK - 1; i >= 0; i--) {
            free[freeCount++] = (count << PER_CHUNK_BITS) + i;
        }
    }

    long address(int frame) {
        return addresses[frame >> PER_CHUNK_BITS] + (long) (frame & PER_CHUNK - 1) * MemoryFrame.MAX_LENGTH;
    }

    void release(int frame) {
        free[freeCount++] = frame;
    }

    /** What the memory of a frame belongs to: one more reference to it. */
    ReferenceCounted retained(int frame) {
        return chunks[frame >> PER_CHUNK_BITS].retain();
    }

    void close() {
        for (ByteBuf chunk : chunks) {
            chunk.release();
        }
        chunks = new ByteBuf[0];
        addresses = new long[0];
        freeCount = 0;
    }
}
