// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.DoubleBinaryOperator;

/** What one contender made of one scenario, round after round. */
final class Row {
    /**
     * @param round counted from 0
     * @param gauge what {@link Gauge#look} said of the time in which it was measured
     */
    private record Measurement(int round, double gauge, Sample sample) {
    }

    private final Scenario scenario;
    private final Contender contender;
    private final List<Measurement> measurements = new ArrayList<>();
    private final List<Measurement> disturbed = new ArrayList<>();
    private String failure;

    Row(Scenario scenario, Contender contender) {
        this.scenario = scenario;
        this.contender = contender;
    }

    Scenario scenario() {
        return scenario;
    }

    Contender contender() {
        return contender;
    }

    /** One for each round in which there was a result that nobody disturbed. */
    List<Sample> samples() {
        return measurements.stream().map(Measurement::sample).toList();
    }

    /** What was measured while others had the processors; it counts for nothing. */
    List<Sample> disturbed() {
        return disturbed.stream().map(Measurement::sample).toList();
    }

    /** In the next round. */
    void add(Sample sample) {
        add(measurements.size(), 0, sample);
    }

    void add(int round, double gauge, Sample sample) {
        measurements.add(new Measurement(round, gauge, sample));
    }

    /** Puts aside what was disturbed: the machine's best is known by now. */
    void settle(Gauge gauge) {
        measurements.removeIf(measurement -> {
            var slow = isDisturbed(measurement.gauge(), measurement.sample(), gauge);
            if (slow) {
                disturbed.add(measurement);
            }
            return slow;
        });
    }

    /** Whether the last one was, as far as is known by now; it is put aside then. */
    boolean settleLast(Gauge gauge) {
        var last = measurements.getLast();
        if (!isDisturbed(last.gauge(), last.sample(), gauge)) {
            return false;
        }
        disturbed.add(measurements.removeLast());
        return true;
    }

    /** A limit that is missed by the limit itself was not there. */
    private boolean isDisturbed(double reading, Sample sample, Gauge gauge) {
        if (gauge.isSlow(reading)) {
            return true;
        }
        // Its median is that of its last 2,048 round trips. The rate is that of all.
        return contender instanceof Perftest
                && (missesItself(scenario.work().headline(), sample) || missesItself(Metric.RATE, sample));
    }

    private boolean missesItself(Metric metric, Sample sample) {
        var figure = sample.figures().get(metric);
        return figure != null && measurements.stream().map(other -> other.sample().figures().get(metric))
                .anyMatch(other -> other != null && metric.ratio(figure, other) < 1 / Gauge.TOLERANCE);
    }

    /** Why there is no result in some round, or {@code null}. */
    String failure() {
        return failure;
    }

    void failed(String reason) {
        failure = reason;
    }

    /** Empty if no sample has that metric. */
    Optional<Spread> spread(Metric metric) {
        return Spread.of(measurements.stream().map(measurement -> measurement.sample().figures().get(metric))
                .filter(Objects::nonNull).toList());
    }

    /**
     * How many times better than another row this one is, in each round in which both were measured: what disturbs one
     * round, and not the next, is in both.
     */
    Optional<Spread> ratio(Metric metric, Row other) {
        return compared(metric, other, metric::ratio);
    }

    /** How much more than another row's the metric is, in the same way. */
    Optional<Spread> excess(Metric metric, Row other) {
        return compared(metric, other, (value, reference) -> value - reference);
    }

    private Optional<Spread> compared(Metric metric, Row other, DoubleBinaryOperator comparison) {
        var results = new ArrayList<Double>();
        for (var own : measurements) {
            for (var its : other.measurements) {
                var value = own.sample().figures().get(metric);
                var reference = its.sample().figures().get(metric);
                if (own.round() == its.round() && value != null && reference != null) {
                    results.add(comparison.applyAsDouble(value, reference));
                }
            }
        }
        return Spread.of(results);
    }

    /** What carried the bytes, as the samples say; the lane that was asked for if there are none. */
    String lane() {
        return measurements.isEmpty() ? contender.lane() : measurements.getLast().sample().lane();
    }

    @Override
    public String toString() {
        return contender.name() + (contender.lane().equals("-") ? "" : " over " + contender.lane());
    }
}
