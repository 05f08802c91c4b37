// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;

import java.util.concurrent.atomic.AtomicBoolean;

/** A part of a ring on its way through a channel. It is made once, and used again when the channel has released it. */
final class SpanBuffer extends UnpooledDirectByteBuf {

    private final Spans spans;
    private final long address;
    /** The position behind it. */
    private long end;
    /** Whether it may be given back: the channel does not need it any more. */
    private final AtomicBoolean released = new AtomicBoolean();
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
        // Whoever is told that it has begun is told this, too.
        released.setPlain(false);
        this.end = end;
        setIndex(offset, offset + bytes);
    }

    /** Instead of being written: what it stands for is not sent. */
    void discard(long end) {
        this.end = end;
        released.setRelease(true);
    }

    long end() {
        return end;
    }

    boolean isReleased() {
        return released.get();
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
        released.setRelease(true);
        spans.released();
    }
}
