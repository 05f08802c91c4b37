// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What one contender made of one scenario, round after round. */
final class Row {
    private final Scenario scenario;
    private final Contender contender;
    private final List<Sample> samples = new ArrayList<>();
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

    /** One for each round in which there was a result. */
    List<Sample> samples() {
        return samples;
    }

    void add(Sample sample) {
        samples.add(sample);
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
        return Spread.of(samples.stream().map(sample -> sample.figures().get(metric))
                .filter(value -> value != null).toList());
    }

    /** What carried the bytes, as the samples say; the lane that was asked for if there are none. */
    String lane() {
        return samples.isEmpty() ? contender.lane() : samples.getLast().lane();
    }

    @Override
    public String toString() {
        return contender.name() + (contender.lane().equals("-") ? "" : " over " + contender.lane());
    }
}
