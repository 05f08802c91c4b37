// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

import java.util.ArrayDeque;

/**
 * The send buffers of one loop. The one used last is taken first: it is the one still in the processor's cache.
 */
public final class SendBufferPool {

    public static final String CAPACITY_PROPERTY = "io.github.nettyucx.sendBufferSize";

    static final IntSetting CAPACITY_SETTING =
            IntSetting.of(CAPACITY_PROPERTY, 64 * 1024, 4 * 1024, 16 * 1024 * 1024, "bytes");

    /** Of each buffer, in bytes. */
    public static final int CAPACITY = CAPACITY_SETTING.value();

    /** Buffers that an idle loop keeps. */
    private static final int KEPT = 16;

    /** Of registered memory: how many buffers are registered at once, and how often that is done. */
    private static final int SLAB_BUFFERS = Math.clamp(1024 * 1024 / CAPACITY, 1, KEPT);
    private static final int MAX_SLABS = 4;

    private final ArrayDeque<SendBuffer> free = new ArrayDeque<>(KEPT);
    private final Counters<WorkerCounter> counters;
    private final RegisteredMemory registered;
    private int slabs;
    private boolean closed;

    /** Of memory that is not registered. */
    public SendBufferPool(Counters<WorkerCounter> counters) {
        this(counters, null);
    }

    /**
     * @param registered where buffers come from as long as there are some, or {@code null}
     */
    SendBufferPool(Counters<WorkerCounter> counters, RegisteredMemory registered) {
        this.counters = counters;
        this.registered = registered;
    }

    /** The registered memory that buffers lie in, {@code null} where UCX needs none. */
    public RegisteredMemory registered() {
        return registered;
    }

    public SendBuffer acquire() {
        SendBuffer buffer = free.pollLast();
        if (buffer != null) {
            return buffer;
        }
        if (registered != null && addSlab()) {
            return free.pollLast();
        }
        ByteBuf memory = PooledByteBufAllocator.DEFAULT.directBuffer(CAPACITY, CAPACITY);
        counters.increment(WorkerCounter.SEND_BUFFERS_ALLOCATED);
        return new SendBuffer(this, memory, BufferAddress.of(memory, 0, CAPACITY), null);
    }

    private boolean addSlab() {
        MemorySlab slab = slabs == MAX_SLABS ? null : registered.newSlab(SLAB_BUFFERS * CAPACITY);
        if (slab == null) {
            return false;
        }
        slabs++;
        for (int i = 0; i < SLAB_BUFFERS; i++) {
            int start = i * CAPACITY;
            free.addLast(new SendBuffer(this, slab.part(start, CAPACITY), slab.address() + start, slab));
        }
        counters.add(WorkerCounter.SEND_BUFFERS_ALLOCATED, SLAB_BUFFERS);
        return true;
    }

    void returned(SendBuffer buffer) {
        MemorySlab slab = buffer.slab();
        boolean kept = slab == null ? !closed && slabs == 0 && free.size() < KEPT : !slab.isRetired();
        if (kept) {
            free.addLast(buffer);
        } else {
            release(buffer);
        }
    }

    /** The registered memory is not used any more. */
    void retire() {
        slabs = 0;
        releaseFree();
    }

    void close() {
        closed = true;
        releaseFree();
    }

    private void releaseFree() {
        for (SendBuffer buffer = free.poll(); buffer != null; buffer = free.poll()) {
            release(buffer);
        }
    }

    private void release(SendBuffer buffer) {
        buffer.memory().release();
        counters.increment(WorkerCounter.SEND_BUFFERS_RELEASED);
    }
}
