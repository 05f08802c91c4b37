// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.Locale;
import java.util.Optional;

/**
 * What a row is to reach.
 *
 * @param what is measured, for a person
 * @param reference the row with which this one is compared; {@code null} for none
 * @param bound for the metric's median, or, where there is a reference, for how many times better than that the median
 *         is at least
 */
record Target(String what, Row row, Metric metric, Row reference, double bound) {

    /** Of the metric, or the ratio to the reference; empty if it was not measured. */
    Optional<Double> measured() {
        var own = row.spread(metric).map(Spread::median);
        return reference == null ? own
                : own.flatMap(value -> reference.spread(metric).map(other -> metric.ratio(value, other.median())));
    }

    /** Empty if it was not measured. */
    Optional<Boolean> isMet() {
        return measured().map(value -> reference == null && metric.lowerIsBetter() ? value <= bound : value >= bound);
    }

    String goal() {
        return (reference == null && metric.lowerIsBetter() ? "≤ " : "≥ ")
                + (reference == null ? metric.format(bound) + " " + unit()
                : String.format(Locale.ROOT, "%.2f× %s", bound, referenceName()));
    }

    private String unit() {
        return metric.heading();
    }

    private String referenceName() {
        return reference.contender() instanceof Perftest ? Comparison.LIMIT
                : reference.scenario().equals(row.scenario()) ? reference.contender().name() : "the other";
    }

    /** For a person: the figure, and where it comes from. */
    String result() {
        return measured().map(value -> reference == null ? metric.format(value)
                : String.format(Locale.ROOT, "%.2f× (%s to %s)", value,
                        metric.format(row.spread(metric).orElseThrow().median()),
                        metric.format(reference.spread(metric).orElseThrow().median())))
                .orElse("not measured");
    }

    /** The range of the row's metric over the rounds. */
    String range() {
        return row.spread(metric).map(spread -> metric.format(spread.min()) + ".." + metric.format(spread.max()))
                .orElse("");
    }
}
