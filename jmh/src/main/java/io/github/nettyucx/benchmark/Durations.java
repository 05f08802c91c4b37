// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.IntCountsHistogram;

/** Histograms of durations: one for each connection while it is measured, one of all of them afterwards. */
final class Durations {
    private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int DIGITS = 3;
    private static final double[] PERCENTILES = {0, 1, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99, 99.999, 100};

    private Durations() {
    }

    /** Takes durations up to a minute in nanoseconds; of one thread. */
    static AbstractHistogram newHistogram() {
        return new IntCountsHistogram(LONGEST_NANOS, DIGITS);
    }

    static void record(AbstractHistogram histogram, long nanos) {
        histogram.recordValue(Math.min(nanos, LONGEST_NANOS));
    }

    static Histogram merge(Collection<? extends AbstractHistogram> parts) {
        var merged = new Histogram(LONGEST_NANOS, DIGITS);
        parts.forEach(merged::add);
        return merged;
    }

    static Map<Metric, Double> figures(AbstractHistogram nanos) {
        var figures = new EnumMap<Metric, Double>(Metric.class);
        figures.put(Metric.P50, micros(nanos.getValueAtPercentile(50)));
        figures.put(Metric.P99, micros(nanos.getValueAtPercentile(99)));
        figures.put(Metric.P999, micros(nanos.getValueAtPercentile(99.9)));
        return figures;
    }

    /** By the percentile's number, in rising order. */
    static Map<String, Double> percentiles(AbstractHistogram nanos) {
        var values = new LinkedHashMap<String, Double>();
        for (var percentile : PERCENTILES) {
            values.put(percentile == Math.rint(percentile) ? Integer.toString((int) percentile)
                    : Double.toString(percentile), micros(nanos.getValueAtPercentile(percentile)));
        }
        return values;
    }

    static String encode(AbstractHistogram nanos) {
        var buffer = ByteBuffer.allocate(nanos.getNeededByteBufferCapacity());
        var length = nanos.encodeIntoCompressedByteBuffer(buffer);
        return Base64.getEncoder().encodeToString(java.util.Arrays.copyOf(buffer.array(), length));
    }

    private static double micros(long nanos) {
        return nanos / 1000.0;
    }
}
