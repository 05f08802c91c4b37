// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.Locale;
import java.util.Optional;

/**
 * What a row is to reach.
 *
 * @param what is measured, for a person
 * @param reference the row with which this one is compared; {@code null} for none
 * @param kind what the bound is about
 * @param bound of the metric's median, or of the comparison's in the median round
 */
record Target(String what, Row row, Metric metric, Row reference, Kind kind, double bound) {
    /** What is compared. */
    enum Kind {
        /** The metric. */
        FIGURE,
        /** How many times better than the reference it is. */
        RATIO,
        /** How much more than the reference's it is. */
        EXCESS
    }

    /** For a ratio where there is a reference, and otherwise for the metric itself. */
    Target(String what, Row row, Metric metric, Row reference, double bound) {
        this(what, row, metric, reference, reference == null ? Kind.FIGURE : Kind.RATIO, bound);
    }

    /** Of the metric, or of the comparison; empty if it was not measured. */
    Optional<Double> measured() {
        return switch (kind) {
            case FIGURE -> row.spread(metric).map(Spread::median);
            case RATIO -> row.ratio(metric, reference).map(Spread::median);
            case EXCESS -> row.excess(metric, reference).map(Spread::median);
        };
    }

    /** Empty if it was not measured. */
    Optional<Boolean> isMet() {
        return measured().map(value -> isUpperBound() ? value <= bound : value >= bound);
    }

    private boolean isUpperBound() {
        return kind != Kind.RATIO && metric.lowerIsBetter();
    }

    String goal() {
        return (isUpperBound() ? "≤ " : "≥ ") + switch (kind) {
            case FIGURE -> metric.format(bound) + " " + metric.heading();
            case RATIO -> String.format(Locale.ROOT, "%.2f× %s", bound, referenceName());
            case EXCESS -> referenceName() + " + " + metric.format(bound) + " " + metric.heading();
        };
    }

    private String referenceName() {
        return reference.contender() instanceof Perftest ? Comparison.LIMIT
                : reference.scenario().equals(row.scenario()) ? reference.contender().name() : "the other";
    }

    /** For a person: the figure, and where it comes from. */
    String result() {
        return measured().map(value -> switch (kind) {
            case FIGURE -> metric.format(value);
            case RATIO -> String.format(Locale.ROOT, "%.2f× %s", value, both());
            case EXCESS -> metric.format(value) + " more " + both();
        }).orElse("not measured");
    }

    private String both() {
        return "(" + metric.format(row.spread(metric).orElseThrow().median()) + " to "
                + metric.format(reference.spread(metric).orElseThrow().median()) + ")";
    }

    /** The range of the row's metric over the rounds. */
    String range() {
        return row.spread(metric).map(spread -> metric.format(spread.min()) + ".." + metric.format(spread.max()))
                .orElse("");
    }
}
