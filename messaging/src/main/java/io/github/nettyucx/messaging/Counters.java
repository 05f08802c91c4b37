// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.atomic.LongAdder;

/** What a node counts on whatever thread. What its event loops do for each message has {@linkplain LoopCounters its own}. */
final class Counters {

    private final LongAdder wakeups = new LongAdder();
    private final LongAdder ringFull = new LongAdder();
    private final LongAdder overflowed = new LongAdder();
    private final LongAdder undelivered = new LongAdder();
    private final LongAdder unhandled = new LongAdder();
    private final LongAdder timedOut = new LongAdder();
    private final LongAdder cancelled = new LongAdder();
    private final LongAdder requestFailed = new LongAdder();
    private final LongAdder late = new LongAdder();
    private final LongAdder opened = new LongAdder();
    private final LongAdder closed = new LongAdder();
    private final LongAdder lost = new LongAdder();

    void woken() {
        wakeups.increment();
    }

    void ringFull() {
        ringFull.increment();
    }

    void overflowed() {
        overflowed.increment();
    }

    void undelivered() {
        undelivered.increment();
    }

    void unhandled() {
        unhandled.increment();
    }

    void timedOut() {
        timedOut.increment();
    }

    void cancelled() {
        cancelled.increment();
    }

    void requestFailed() {
        requestFailed.increment();
    }

    void late() {
        late.increment();
    }

    void opened() {
        opened.increment();
    }

    void closed() {
        closed.increment();
    }

    void lost() {
        lost.increment();
    }

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
