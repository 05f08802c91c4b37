// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.EnumMap;
import java.util.Map;

/**
 * What one measurement yielded.
 *
 * @param lane what carried the bytes, for example {@code sysv} or {@code tcp}
 * @param software what was measured, with its version
 * @param operations that were measured, of all connections together
 * @param seconds how long they took
 * @param figures what is reported
 * @param percentiles of the durations in microseconds by percentile, or {@code null}
 * @param histogram of all connections' durations in nanoseconds, as HdrHistogram's compressed form in Base64, or
 *         {@code null}
 */
record Sample(String lane, String software, long operations, double seconds, Map<Metric, Double> figures,
              Map<String, Double> percentiles, String histogram) {

    Sample with(Metric metric, double value) {
        var more = new EnumMap<Metric, Double>(Metric.class);
        more.putAll(figures);
        more.put(metric, value);
        return new Sample(lane, software, operations, seconds, more, percentiles, histogram);
    }
}
