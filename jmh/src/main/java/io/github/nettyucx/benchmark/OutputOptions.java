// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.Count;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options of every command: how often is measured, for how long, and what becomes of the result. */
final class OutputOptions {
    private static final int DEFAULT_ROUNDS = 5;
    private static final double LEAST_SECONDS = 0.01;
    private static final double MOST_SECONDS = 3600;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--rounds", paramLabel = "N", converter = Count.OfThreads.class,
            description = "How often everything is measured, in turns; medians are shown. Default: 5.")
    private long rounds = DEFAULT_ROUNDS;

    @Option(names = "--seconds", paramLabel = "S",
            description = "How long one measurement takes, beside its warm-up. memory, start and first-second "
                    + "take the time that they need. Default: 1.")
    private double seconds = 1;

    @Option(names = "--json", paramLabel = "FILE",
            description = "Write all that was measured there: every round, percentiles, machine, versions, options.")
    private Path json;

    @Option(names = "--report", paramLabel = "DIRECTORY",
            description = "Write a page with charts there, index.html.")
    private Path report;

    @Option(names = "--svg", paramLabel = "DIRECTORY",
            description = "Write pictures there, latency.svg and throughput.svg: figures over the message size.")
    private Path svg;

    @Option(names = "--verbose", description = "Show stack traces of failures.")
    private boolean verbose;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help.")
    private boolean help;

    int rounds() {
        return (int) rounds;
    }

    double seconds() {
        return seconds;
    }

    Path json() {
        return json;
    }

    Path svg() {
        return svg;
    }

    Path report() {
        return report;
    }

    /** What the user typed. */
    List<String> command() {
        var root = spec.root().commandLine().getParseResult();
        return root == null ? List.of() : root.originalArgs();
    }

    /** Before anything is measured. */
    void validate() {
        if (!(seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS)) {
            throw rejected("--seconds " + seconds + " is out of range. Expected 0.01 to 3600.");
        }
        requireWritable("--json", json, false);
        requireWritable("--report", report, true);
        requireWritable("--svg", svg, true);
    }

    private void requireWritable(String option, Path path, boolean directory) {
        if (path == null) {
            return;
        }
        var absolute = path.toAbsolutePath();
        var existing = Files.exists(absolute) ? absolute : absolute.getParent();
        if (Files.exists(absolute) && Files.isDirectory(absolute) != directory || existing == null
                || !Files.isWritable(existing)) {
            throw rejected(option + " " + path + " cannot be written. Expected a " + (directory ? "directory" : "file")
                    + " in a directory that exists and is yours to write to.");
        }
    }

    ParameterException rejected(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
