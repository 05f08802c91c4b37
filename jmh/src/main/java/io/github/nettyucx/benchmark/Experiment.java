// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Progress;
import java.util.List;

/**
 * Measures all rows once in each round, so that what disturbs the machine for a while disturbs all of them, and their
 * ratios mean something. What a {@link Gauge} says was disturbed is measured again, so many times.
 */
final class Experiment {
    private static final long SIGNAL_MILLIS = 200;
    /** A bad minute can be an hour. */
    private static final int REPETITIONS = 2;

    private final List<Row> rows;
    private final int rounds;
    private final Gauge gauge;
    private final Progress progress;
    private final Interruption interruption;

    Experiment(List<Row> rows, int rounds, Gauge gauge, Progress progress, Interruption interruption) {
        this.rows = List.copyOf(rows);
        this.gauge = gauge;
        this.rounds = rounds;
        this.progress = progress;
        this.interruption = interruption;
    }

    /**
     * Blocks until all is measured. A row that fails is not tried again.
     *
     * @return {@code false} if the user wanted no more
     */
    boolean run() throws InterruptedException {
        var all = rows.stream().mapToDouble(Experiment::roughSeconds).sum() * rounds;
        var behind = 0.0;
        try {
            gauge.look(interruption);
            for (var round = 0; round < rounds; round++) {
                for (var row : rows) {
                    interruption.check();
                    progress.begin(String.format("round %d of %d: %s, %s", round + 1, rounds, row, row.scenario()));
                    progress.at(behind / all);
                    if (row.failure() == null) {
                        measure(row, round);
                    }
                    behind += roughSeconds(row);
                }
            }
            return true;
        } catch (Interruption.Interrupted e) {
            return false;
        } finally {
            rows.forEach(row -> row.settle(gauge));
            progress.end();
        }
    }

    /** What one measurement takes with all around it, and not to the letter: how much is left is estimated by it. */
    private static double roughSeconds(Row row) {
        var scenario = row.scenario();
        return scenario.connections() / 1000.0 + switch (scenario.work()) {
            case START, FIRST_LATENCY, FIRST_THROUGHPUT -> 10;
            case START_AOT -> 40;
            case APPLICATIONS -> 60;
            case IDLE -> 30 + scenario.seconds();
            default -> 3 + 5 * scenario.seconds();
        };
    }

    private void measure(Row row, int round) throws InterruptedException {
        try {
            for (var left = REPETITIONS; left >= 0; left--) {
                var sample = row.contender().measure(row.scenario(), interruption);
                row.add(round, gauge.look(interruption), sample);
                if (!row.settleLast(gauge)) {
                    return;
                }
            }
        } catch (ExampleFailure e) {
            // Ctrl-C goes to all processes at once; that of a child may come before ours.
            Thread.sleep(SIGNAL_MILLIS);
            interruption.check();
            row.failed(e.getMessage());
        }
    }
}
