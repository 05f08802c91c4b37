// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.github.nettyucx.examples.ByteSize;

/**
 * What a measurement asks of a transport.
 *
 * @param size bytes in each direction of a round trip
 * @param connections how many connections ping at the same time, each with one request in flight
 * @param threads event loop threads on each side
 * @param iterations measured round trips on each connection
 * @param warmup round trips on each connection before the measured ones
 */
record Workload(ByteSize size, int connections, int threads, long iterations, long warmup) {
    /** How long kernel TCP should be busy with one default measurement, in microseconds. */
    private static final double BUDGET = 5_000_000;

    /**
     * As many as kernel TCP on one host gets done in a few seconds, by a rule of thumb: a round trip of its own takes
     * 50 µs, one among many 10 µs of a thread's time, and 700 bytes take one more.
     */
    static long defaultIterations(ByteSize size, int connections) {
        var transfer = size.bytes() / 700.0;
        var duration = Math.max(50 + transfer, connections * (10 + transfer));
        return Math.max(10, twoDigits((long) (BUDGET / duration)));
    }

    static long defaultWarmup(long iterations) {
        return Math.ceilDiv(iterations, 10);
    }

    private static long twoDigits(long number) {
        var unit = 1L;
        while (number / unit >= 100) {
            unit *= 10;
        }
        return number / unit * unit;
    }

    long totalRounds() {
        return (iterations + warmup) * connections;
    }
}
