// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
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

    /** For {@link #parse}, in another process. */
    String toLine() {
        return String.join(" ", transport.name(), Boolean.toString(tls), lane,
                URLEncoder.encode(software, StandardCharsets.UTF_8), Double.toString(callsPerSecond),
                Double.toString(latency.p50), Double.toString(latency.p90), Double.toString(latency.p99),
                Double.toString(latency.p999), Double.toString(latency.max),
                Double.toString(concurrentCallsPerSecond));
    }

    static GrpcResult parse(String line) {
        var fields = line.split(" ");
        return new GrpcResult(GrpcTransport.valueOf(fields[0]), Boolean.parseBoolean(fields[1]), fields[2],
                URLDecoder.decode(fields[3], StandardCharsets.UTF_8), Double.parseDouble(fields[4]),
                new Latency(Double.parseDouble(fields[5]), Double.parseDouble(fields[6]),
                        Double.parseDouble(fields[7]), Double.parseDouble(fields[8]), Double.parseDouble(fields[9])),
                Double.parseDouble(fields[10]));
    }
}
