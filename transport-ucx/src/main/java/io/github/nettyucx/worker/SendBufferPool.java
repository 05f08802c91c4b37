// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

import java.util.ArrayDeque;

/**
 * The send buffers of one loop. The one used last is taken first: it is the one still in the processor's cache.
 */
public final class SendBufferPool {

    /** Of each buffer, in bytes. */
    public static final int CAPACITY = Integer.getInteger("io.github.nettyucx.sendBufferSize", 64 * 1024);

    /** Buffers that an idle loop keeps. */
    private static final int KEPT = 16;

    private final ArrayDeque<SendBuffer> free = new ArrayDeque<>(KEPT);
    private final Counters<WorkerCounter> counters;
    private boolean closed;

    SendBufferPool(Counters<WorkerCounter> counters) {
        this.counters = counters;
    }

    public SendBuffer acquire() {
        SendBuffer buffer = free.pollLast();
        if (buffer != null) {
            return buffer;
        }
        ByteBuf memory = PooledByteBufAllocator.DEFAULT.directBuffer(CAPACITY, CAPACITY);
        counters.increment(WorkerCounter.SEND_BUFFERS_ALLOCATED);
        return new SendBuffer(this, memory, BufferAddress.of(memory, 0, CAPACITY));
    }

    void returned(SendBuffer buffer) {
        if (closed || free.size() == KEPT) {
            release(buffer);
        } else {
            free.addLast(buffer);
        }
    }

    void close() {
        closed = true;
        for (SendBuffer buffer = free.poll(); buffer != null; buffer = free.poll()) {
            release(buffer);
        }
    }

    private void release(SendBuffer buffer) {
        buffer.memory().release();
        counters.increment(WorkerCounter.SEND_BUFFERS_RELEASED);
    }
}
