// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Progress;
import java.util.List;

/**
 * Measures all rows once in each round, so that what disturbs the machine for a while disturbs all of them, and their
 * ratios mean something.
 */
final class Experiment {
    private static final long SIGNAL_MILLIS = 200;

    private final List<Row> rows;
    private final int rounds;
    private final Progress progress;
    private final Interruption interruption;

    Experiment(List<Row> rows, int rounds, Progress progress, Interruption interruption) {
        this.rows = List.copyOf(rows);
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
        var steps = rounds * rows.size();
        try {
            for (var round = 0; round < rounds; round++) {
                for (var i = 0; i < rows.size(); i++) {
                    interruption.check();
                    var row = rows.get(i);
                    progress.begin(String.format("round %d of %d: %s, %s", round + 1, rounds, row, row.scenario()));
                    progress.at((double) (round * rows.size() + i) / steps);
                    if (row.failure() == null) {
                        measure(row);
                    }
                }
            }
            return true;
        } catch (Interruption.Interrupted e) {
            return false;
        } finally {
            progress.end();
        }
    }

    private void measure(Row row) throws InterruptedException {
        try {
            row.add(row.contender().measure(row.scenario(), interruption));
        } catch (ExampleFailure e) {
            // Ctrl-C goes to all processes at once; that of a child may come before ours.
            Thread.sleep(SIGNAL_MILLIS);
            interruption.check();
            row.failed(e.getMessage());
        }
    }
}
