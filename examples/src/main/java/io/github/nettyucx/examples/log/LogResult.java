// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.HdrHistogram.AbstractHistogram;

/**
 * What came out for one client.
 *
 * @param records that were acknowledged, or received
 * @param bytes of their payloads
 * @param nanos that this took
 * @param p50Nanos from the call to the acknowledgement, or to the receipt
 * @param p99Nanos the same
 * @param brokerRecords that the broker committed meanwhile
 * @param brokerCpuNanos that the broker's process was busy meanwhile
 */
record LogResult(long records, long bytes, long nanos, long p50Nanos, long p99Nanos, long brokerRecords,
                 long brokerCpuNanos) {

    static LogResult of(AbstractHistogram latency, int size, long nanos, long brokerRecords, long brokerCpuNanos) {
        return new LogResult(latency.getTotalCount(), latency.getTotalCount() * size, nanos,
                latency.getValueAtPercentile(50), latency.getValueAtPercentile(99), brokerRecords, brokerCpuNanos);
    }

    double megabytesPerSecond() {
        return bytes * 1e3 / nanos;
    }

    double brokerMicrosPerRecord() {
        return brokerCpuNanos / 1e3 / brokerRecords;
    }

    /** For the process that started this one. */
    String toLine() {
        return Stream.of(records, bytes, nanos, p50Nanos, p99Nanos, brokerRecords, brokerCpuNanos).map(String::valueOf)
                .collect(Collectors.joining(" "));
    }

    static LogResult parse(String line) {
        var numbers = Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray();
        return new LogResult(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]);
    }
}
