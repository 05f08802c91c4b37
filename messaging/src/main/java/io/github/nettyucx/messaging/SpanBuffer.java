// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;

/** A part of a ring on its way through a channel. It is made once, and used again when the channel has released it. */
final class SpanBuffer extends UnpooledDirectByteBuf {

    private final Spans spans;
    private final long address;
    /** The position behind it. */
    private long end;
    /** Whether it may be given back: the channel does not need it any more. */
    private volatile boolean released;
    private boolean used;

    SpanBuffer(Spans spans, Ring ring) {
        super(UnpooledByteBufAllocator.DEFAULT, ring.buffer(), ring.capacity());
        this.spans = spans;
        address = ring.memory().address();
    }

    void begin(int offset, int bytes, long end) {
        if (used) {
            resetRefCnt();
        }
        used = true;
        released = false;
        this.end = end;
        setIndex(offset, offset + bytes);
    }

    /** Instead of being written: what it stands for is not sent. */
    void discard(long end) {
        this.end = end;
        released = true;
    }

    long end() {
        return end;
    }

    boolean isReleased() {
        return released;
    }

    /** Known also where Netty does without {@code sun.misc.Unsafe}. */
    @Override
    public boolean hasMemoryAddress() {
        return true;
    }

    @Override
    public long memoryAddress() {
        return address;
    }

    @Override
    protected void deallocate() {
        released = true;
        spans.released();
    }
}
