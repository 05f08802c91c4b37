// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.List;
import java.util.Optional;

/** Of some measurements of the same. */
record Spread(double median, double min, double max, int count) {

    /**
     * @return empty for no values
     */
    static Optional<Spread> of(List<Double> values) {
        if (values.isEmpty()) {
            return Optional.empty();
        }
        var sorted = values.stream().sorted().toList();
        var middle = sorted.size() / 2;
        var median = sorted.size() % 2 == 1 ? sorted.get(middle)
                : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
        return Optional.of(new Spread(median, sorted.getFirst(), sorted.getLast(), sorted.size()));
    }
}
