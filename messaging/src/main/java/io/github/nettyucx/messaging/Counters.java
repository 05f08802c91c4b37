// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.atomic.LongAdder;

/** What a node counts. Any thread may call; nothing here is called for each message. */
final class Counters {

    private final LongAdder framesSent = new LongAdder();
    private final LongAdder bytesSent = new LongAdder();
    private final LongAdder framesReceived = new LongAdder();
    private final LongAdder bytesReceived = new LongAdder();
    private final LongAdder flushes = new LongAdder();
    private final LongAdder wakeups = new LongAdder();
    private final LongAdder ringFull = new LongAdder();
    private final LongAdder overflowed = new LongAdder();
    private final LongAdder undelivered = new LongAdder();
    private final LongAdder unhandled = new LongAdder();
    private final LongAdder requested = new LongAdder();
    private final LongAdder timedOut = new LongAdder();
    private final LongAdder cancelled = new LongAdder();
    private final LongAdder requestFailed = new LongAdder();
    private final LongAdder late = new LongAdder();
    private final LongAdder opened = new LongAdder();
    private final LongAdder closed = new LongAdder();
    private final LongAdder lost = new LongAdder();

    void sent(int frames, int bytes) {
        framesSent.add(frames);
        bytesSent.add(bytes);
    }

    void received(long frames, long bytes) {
        framesReceived.add(frames);
        bytesReceived.add(bytes);
    }

    void flushed() {
        flushes.increment();
    }

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

    void requested() {
        requested.increment();
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

    NodeMetrics snapshot(int connections) {
        return new NodeMetrics(framesSent.sum(), bytesSent.sum(), framesReceived.sum(), bytesReceived.sum(), flushes.sum(),
                wakeups.sum(), ringFull.sum(), overflowed.sum(), undelivered.sum(), unhandled.sum(), requested.sum(),
                timedOut.sum(), cancelled.sum(), requestFailed.sum(), late.sum(), connections, opened.sum(), closed.sum(),
                lost.sum());
    }
}
