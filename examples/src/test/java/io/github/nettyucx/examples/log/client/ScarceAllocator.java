// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;

/** Has no memory for one buffer of a certain length when it is told so. */
final class ScarceAllocator extends AbstractByteBufAllocator {
    final OutOfMemoryError failure = new OutOfMemoryError("as the test wants it");
    private final int length;
    volatile boolean fails;

    ScarceAllocator(int length) {
        this.length = length;
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return PooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        if (fails && initialCapacity == length) {
            fails = false;
            throw failure;
        }
        return PooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return true;
    }
}
