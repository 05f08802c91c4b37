// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * All that was measured, as it is written to a file.
 *
 * @param complete {@code false} if the user interrupted it
 * @param command what the user typed
 * @param jvmOptions of the measured processes, but those of {@link Starts} and {@link Ratis}, which have others
 */
record ResultFile(Instant started, Instant finished, boolean complete, List<String> command, List<String> jvmOptions,
                  Machine machine, int rounds, List<Result> results, List<Outcome> targets) {

    /**
     * One row.
     *
     * @param failure why there is no result in some round, or {@code null}
     * @param summary medians and ranges over the rounds
     * @param rounds what counts
     * @param disturbed what was measured while others had the processors, and does not count
     */
    record Result(Scenario scenario, String contender, String lane, String waitMode, String failure,
                  Map<Metric, Spread> summary, List<Sample> rounds, List<Sample> disturbed) {

        static Result of(Row row) {
            var summary = new EnumMap<Metric, Spread>(Metric.class);
            for (var metric : Metric.values()) {
                row.spread(metric).ifPresent(spread -> summary.put(metric, spread));
            }
            return new Result(row.scenario(), row.contender().name(), row.contender().lane(),
                    row.contender().waitMode(), row.failure(), summary, row.samples(), row.disturbed());
        }
    }

    /**
     * @param measured {@code null} if it was not
     * @param met {@code null} if it was not measured
     */
    record Outcome(String target, String goal, Double measured, Boolean met) {

        static Outcome of(Target target) {
            return new Outcome(target.what(), target.goal(), target.measured().orElse(null),
                    target.isMet().orElse(null));
        }
    }
}
