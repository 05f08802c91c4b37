// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import org.HdrHistogram.AbstractHistogram;

/**
 * One row of the result.
 *
 * @param lane what carried the bytes, for example {@code sysv} or {@code tcp}
 * @param callsPerSecond of calls that are made one after the other
 * @param latency of these
 * @param concurrentCallsPerSecond of calls that are made many at a time
 */
record GrpcResult(GrpcTransport transport, boolean tls, String lane, String software, double callsPerSecond,
                  Latency latency, double concurrentCallsPerSecond) {

    /** All in microseconds. */
    record Latency(double p50, double p90, double p99, double p999, double max) {
        static Latency of(AbstractHistogram nanos) {
            return new Latency(nanos.getValueAtPercentile(50) / 1e3, nanos.getValueAtPercentile(90) / 1e3,
                    nanos.getValueAtPercentile(99) / 1e3, nanos.getValueAtPercentile(99.9) / 1e3,
                    nanos.getMaxValue() / 1e3);
        }
    }
}
