// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.atomic.LongAdder;

/** What a node counts on whatever thread. What its event loops do for each message has {@linkplain LoopCounters its own}. */
final class Counters {

    final LongAdder wakeups = new LongAdder();
    final LongAdder ringFull = new LongAdder();
    final LongAdder overflowed = new LongAdder();
    final LongAdder undelivered = new LongAdder();
    final LongAdder unhandled = new LongAdder();
    final LongAdder timedOut = new LongAdder();
    final LongAdder cancelled = new LongAdder();
    final LongAdder requestFailed = new LongAdder();
    final LongAdder late = new LongAdder();
    final LongAdder opened = new LongAdder();
    final LongAdder closed = new LongAdder();
    final LongAdder lost = new LongAdder();

    /**
     * @param loops    what the event loops have counted
     * @param requests that were begun
     */
    NodeMetrics snapshot(LoopCounters.Sum loops, long requests, int connections) {
        return new NodeMetrics(loops.framesSent(), loops.bytesSent(), loops.framesReceived(), loops.bytesReceived(),
                loops.flushes(), wakeups.sum(), ringFull.sum(), overflowed.sum(), undelivered.sum(), unhandled.sum(), requests,
                timedOut.sum(), cancelled.sum(), requestFailed.sum(), late.sum(), connections, opened.sum(), closed.sum(),
                lost.sum());
    }
}
