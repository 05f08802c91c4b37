// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

import java.util.concurrent.atomic.AtomicInteger;

/** An allocator that has no direct memory while the test wants that. */
final class ScarceAllocator extends AbstractByteBufAllocator {

    static final String MESSAGE = "no direct memory, as the test wants it";

    private final ByteBufAllocator source;
    private final AtomicInteger refusals = new AtomicInteger();
    private volatile boolean scarce;

    ScarceAllocator(ByteBufAllocator source) {
        super(true);
        this.source = source;
    }

    void setScarce(boolean scarce) {
        this.scarce = scarce;
    }

    /** How often there was none. */
    int refusals() {
        return refusals.get();
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        if (scarce) {
            refusals.incrementAndGet();
            throw new OutOfMemoryError(MESSAGE);
        }
        return source.directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return source.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return source.isDirectBufferPooled();
    }
}
