// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.Collection;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What one event loop counts for a node, several times for each message: so without an atomic addition, of which each waits
 * for all that the processor has stored before. Only the loop's own thread counts; any thread may read.
 */
final class LoopCounters {

    private final AtomicLong framesSent = new AtomicLong();
    private final AtomicLong bytesSent = new AtomicLong();
    private final AtomicLong framesReceived = new AtomicLong();
    private final AtomicLong bytesReceived = new AtomicLong();
    private final AtomicLong flushes = new AtomicLong();

    /** Those of all loops of a node. */
    record Sum(long framesSent, long bytesSent, long framesReceived, long bytesReceived, long flushes) {
    }

    void sent(int frames, int bytes) {
        add(framesSent, frames);
        add(bytesSent, bytes);
    }

    void received(long frames, long bytes) {
        add(framesReceived, frames);
        add(bytesReceived, bytes);
    }

    void flushed() {
        add(flushes, 1);
    }

    private static void add(AtomicLong counter, long more) {
        counter.setRelease(counter.getPlain() + more);
    }

    static Sum sum(Collection<LoopCounters> all) {
        long framesSent = 0;
        long bytesSent = 0;
        long framesReceived = 0;
        long bytesReceived = 0;
        long flushes = 0;
        for (LoopCounters each : all) {
            framesSent += each.framesSent.get();
            bytesSent += each.bytesSent.get();
            framesReceived += each.framesReceived.get();
            bytesReceived += each.bytesReceived.get();
            flushes += each.flushes.get();
        }
        return new Sum(framesSent, bytesSent, framesReceived, bytesReceived, flushes);
    }
}
