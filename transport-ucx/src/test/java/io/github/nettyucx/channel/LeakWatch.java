// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PoolArenaMetric;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocatorMetric;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Fails a test that leaves a buffer behind: by counting, and by Netty's leak detection, which says where the buffer
 * was made, or used: the build's property {@code tests.leaks}.
 */
public final class LeakWatch {

    private static final long WAIT_MILLIS = 15_000;

    private static final int PAGE = 8192;
    /** Of chunks of Netty's default size, 4 MiB. */
    private static final int MAX_ORDER = 9;

    /** To be used by the test's channels. Caches nothing, so that its counts are exact. */
    public final PooledByteBufAllocator allocator;

    private final List<String> reports = new CopyOnWriteArrayList<>();
    private final long transportsOwn = active(PooledByteBufAllocator.DEFAULT.metric());

    public LeakWatch() {
        this(MAX_ORDER);
    }

    /** @param maxOrder the allocator's chunks have this power of two of pages of 8 KiB; 0 to 14 */
    public LeakWatch(int maxOrder) {
        allocator = new PooledByteBufAllocator(true, 2, 2, PAGE, maxOrder, 0, 0, false);
        ByteBufUtil.setLeakListener((type, records) -> reports.add(type + ' ' + records));
    }

    /** Buffers of {@link #allocator} that have not been released. */
    public long activeBuffers() {
        return active(allocator.metric());
    }

    /**
     * Waits until no buffer of {@link #allocator} is left. A channel gives back what it held in a later turn of its loop than
     * the one in which its connection ended, and a send may complete after its channel has been closed.
     *
     * @throws AssertionError if some are left after 15 s
     */
    public void awaitNoBuffers() throws Exception {
        Eventually.await(WAIT_MILLIS, () -> activeBuffers() + " buffers of the channels are left", () -> activeBuffers() == 0);
    }

    /** To be called when the event loops have ended, which gives back what they cache. */
    public void assertNothingLeft() {
        long left = activeBuffers();
        long ownLeft = active(PooledByteBufAllocator.DEFAULT.metric()) - transportsOwn;
        if (left != 0 || ownLeft != 0) {
            reportLeaks();
        }
        assertEquals(0, left, () -> "buffers of the channels were not released: " + reports);
        assertEquals(0, ownLeft, () -> "buffers of the transport itself were not released: " + reports);
        assertEquals(List.of(), reports);
    }

    /** A leak is noticed when its buffer has been collected as garbage and the next one is made. */
    private void reportLeaks() {
        System.gc();
        for (int i = 0; i < 10 && reports.isEmpty(); i++) {
            System.gc();
            ByteBuf next = allocator.buffer(1);
            next.release();
        }
    }

    private static long active(PooledByteBufAllocatorMetric metric) {
        return Stream.concat(metric.heapArenas().stream(), metric.directArenas().stream())
                .mapToLong(PoolArenaMetric::numActiveAllocations).sum();
    }
}
