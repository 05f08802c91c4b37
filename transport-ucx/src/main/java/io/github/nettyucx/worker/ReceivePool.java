// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.util.internal.PlatformDependent;

import java.util.BitSet;
import java.util.Queue;

/**
 * Buffers of any length in one slab of registered memory, in runs of pages. Only the loop's thread takes them; any
 * thread gives them back, also when the loop has ended.
 */
final class ReceivePool {

    static final int PAGE = 8 * 1024;

    static final IntSetting SIZE_SETTING = IntSetting.orZero("io.github.nettyucx.receivePoolSize", 4 * 1024 * 1024,
            PAGE, 1024 * 1024 * 1024, "bytes");

    /** Of the pool, in bytes; 0 for none. */
    static final int SIZE = SIZE_SETTING.value();

    /** What is shorter is sent along with its announcement, and UCX copies it, in bytes. */
    static final int MIN_LENGTH = PAGE;

    private final MemorySlab slab;
    private final int pages;
    private final BitSet taken;
    /** Those used last, by their first page. */
    private final ReceiveBuffer[] buffers;
    private final Queue<ReceiveBuffer> returned;

    ReceivePool(MemorySlab slab) {
        this.slab = slab;
        pages = slab.length() / PAGE;
        taken = new BitSet(pages);
        buffers = new ReceiveBuffer[pages];
        returned = PlatformDependent.newFixedMpscQueue(Math.max(2, pages));
    }

    /** @return {@code null} if there is no run that is long enough */
    ReceiveBuffer acquire(int length) {
        takeBack();
        int run = (length + PAGE - 1) / PAGE;
        int first = firstFree(run);
        if (first < 0) {
            return null;
        }
        ReceiveBuffer buffer = buffers[first];
        if (buffer == null || buffer.maxCapacity() != run * PAGE) {
            int start = first * PAGE;
            buffer = new ReceiveBuffer(this, slab.address() + start, slab.bytes(start, run * PAGE));
            buffers[first] = buffer;
        }
        taken.set(first, first + run);
        slab.retain();
        buffer.open();
        return buffer;
    }

    private int firstFree(int run) {
        int first = taken.nextClearBit(0);
        while (first + run <= pages) {
            int end = taken.nextSetBit(first);
            if (end < 0 || end - first >= run) {
                return first;
            }
            first = taken.nextClearBit(end);
        }
        return -1;
    }

    private void takeBack() {
        for (ReceiveBuffer buffer = returned.poll(); buffer != null; buffer = returned.poll()) {
            int first = (int) ((buffer.start() - slab.address()) / PAGE);
            taken.clear(first, first + buffer.maxCapacity() / PAGE);
        }
    }

    /** Any thread may call. The slab's memory goes here when the loop has ended, and this is the last. */
    void returned(ReceiveBuffer buffer) {
        boolean queued = returned.offer(buffer);
        assert queued : "there is room for all";
        slab.release();
    }
}
