// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.log.protocol.Message;
import org.HdrHistogram.AbstractHistogram;

/**
 * What came out for one client.
 *
 * @param records that were acknowledged, or received
 * @param bytes of their payloads
 * @param nanos that this took
 * @param p50Nanos from the call to the acknowledgement, or to the receipt
 * @param p99Nanos the same
 * @param broker what the broker did, from a little before that to a little after
 * @param idle what it did while there was nothing to be received, and the client looked for it all the time
 */
record LogResult(long records, long bytes, long nanos, long p50Nanos, long p99Nanos, Broker broker, Idle idle) {

    /**
     * @param records that it committed; for a consumer, that the client received
     * @param cpuNanos that its process was busy
     * @param turns of its event loop with work
     */
    record Broker(long records, long cpuNanos, long turns) {
        static final Broker NONE = new Broker(0, 0, 0);

        double microsPerRecord() {
            return cpuNanos / 1e3 / records;
        }
    }

    /**
     * @param polls of the client
     * @param nanos that they took
     * @param cpuNanos of the broker's process
     * @param turns of the broker's event loop with work
     */
    record Idle(long polls, long nanos, long cpuNanos, long turns) {
        static final Idle NONE = new Idle(0, 0, 0, 0);

        double percentOfProcessor() {
            return 100.0 * cpuNanos / nanos;
        }
    }

    static LogResult of(AbstractHistogram latency, int size, long nanos) {
        return new LogResult(latency.getTotalCount(), latency.getTotalCount() * size, nanos,
                latency.getValueAtPercentile(50), latency.getValueAtPercentile(99), Broker.NONE, Idle.NONE);
    }

    LogResult withBroker(Message.Statistics before, Message.Statistics after) {
        return withBroker(after.records() - before.records(), before, after);
    }

    LogResult withBroker(long handled, Message.Statistics before, Message.Statistics after) {
        return new LogResult(records, bytes, nanos, p50Nanos, p99Nanos, new Broker(handled,
                after.cpuNanos() - before.cpuNanos(), after.turns() - before.turns()), idle);
    }

    LogResult withIdle(Idle found) {
        return new LogResult(records, bytes, nanos, p50Nanos, p99Nanos, broker, found);
    }

    double megabytesPerSecond() {
        return bytes * 1e3 / nanos;
    }
}
