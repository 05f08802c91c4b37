// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.Console;
import io.github.nettyucx.examples.ExampleFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/** Has rows measured and tells what came of it, even if the user interrupts that. */
final class Report {
    private static final int EXIT_NOTHING_MEASURED = 1;
    private static final int EXIT_INTERRUPTED = 130;

    private final OutputOptions output;

    Report(OutputOptions output) {
        this.output = output;
    }

    /** @return the exit code for the process */
    int measure(List<Row> rows, List<Target> targets) throws InterruptedException {
        var interruption = Interruption.bySignal();
        try {
            var machine = Machine.current();
            var started = Instant.now();
            var gauge = Gauge.of(Perftest.bundled(), rows);
            var complete = new Experiment(rows, output.rounds(), gauge, LineProgress.create(), interruption).run();
            if (!complete) {
                System.err.println("Interrupted; this is what was measured until then.");
            }
            Console.print(ReportTable.render(rows));
            Console.print(ReportTable.disturbances(rows, gauge));
            if (!targets.isEmpty()) {
                Console.print("\n" + Targets.render(targets));
            }
            write(new ResultFile(started, Instant.now(), complete, output.command(),
                    Stream.of(ChildProcess.FLAGS, ChildProcess.inheritedOptions(), NettyContender.JVM_OPTIONS)
                            .flatMap(List::stream).toList(), machine,
                    output.rounds(), rows.stream().map(ResultFile.Result::of).toList(),
                    targets.stream().map(ResultFile.Outcome::of).toList()));
            if (!complete) {
                return EXIT_INTERRUPTED;
            }
            return rows.stream().allMatch(row -> row.samples().isEmpty()) ? EXIT_NOTHING_MEASURED : 0;
        } finally {
            interruption.reported();
        }
    }

    private void write(ResultFile result) {
        try {
            if (output.json() != null) {
                Files.writeString(output.json(), Json.FILE.toJson(result) + "\n");
            }
            if (output.svg() != null) {
                Files.createDirectories(output.svg());
                SvgCharts.write(result, output.svg());
            }
            if (output.report() != null) {
                Files.createDirectories(output.report());
                Files.writeString(output.report().resolve("index.html"), ReportPage.render(result));
            }
        } catch (IOException e) {
            throw new ExampleFailure("cannot write the result: " + e, e);
        }
    }
}
