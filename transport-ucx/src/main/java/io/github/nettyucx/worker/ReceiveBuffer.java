// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;

import java.nio.ByteBuffer;

/**
 * A buffer of a {@link ReceivePool}, to which it returns when it is released. It serves one message after the other, as
 * Netty's pooled buffers do. It has whole pages, and nothing of its neighbours': what the superclass reads and writes is
 * bounded by its bytes.
 */
final class ReceiveBuffer extends UnpooledDirectByteBuf {

    private final ReceivePool pool;
    private final long address;
    private int capacity;

    /**
     * @param bytes that lie at {@code address}, all that it has
     */
    ReceiveBuffer(ReceivePool pool, long address, ByteBuffer bytes) {
        // The constructor below asks for it.
        capacity = bytes.remaining();
        super(PooledByteBufAllocator.DEFAULT, bytes, bytes.remaining());
        this.pool = pool;
        this.address = address;
    }

    /** Makes an empty buffer with one reference of it. */
    void open() {
        capacity = maxCapacity();
        resetRefCnt();
        clear();
        markReaderIndex();
        markWriterIndex();
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        ensureAccessible();
        if (newCapacity < 0 || newCapacity > maxCapacity()) {
            throw new IllegalArgumentException("newCapacity: " + newCapacity + " (expected: 0-" + maxCapacity() + ')');
        }
        capacity = newCapacity;
        if (writerIndex() > newCapacity) {
            setIndex(Math.min(readerIndex(), newCapacity), newCapacity);
        }
        return this;
    }

    @Override
    public boolean hasMemoryAddress() {
        return true;
    }

    /** What lies there now can be another connection's, and soon is. */
    @Override
    public long memoryAddress() {
        ensureAccessible();
        return address;
    }

    /** Where its bytes lie, also when it has been released. */
    long start() {
        return address;
    }

    @Override
    protected void deallocate() {
        pool.returned(this);
    }
}
