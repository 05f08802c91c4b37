// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Measures everything for which this project has a target. */
@Command(name = AllCommand.NAME, sortOptions = false, sortSynopsis = false,
        description = "What this project wants to reach, row by row, and whether it does: two processes pinned to "
                + "processors 0 and 1, ucx with its default way to wait.%n")
final class AllCommand implements Callable<Integer> {
    static final String NAME = "all";

    @Mixin
    private OutputOptions output;

    @Option(names = "--only", paramLabel = "WORK[,WORK]", hideParamSyntax = true, split = ",",
            converter = WorkConverter.class, description = "Leave the other works out.")
    private List<Work> only = List.of(Work.values());

    @Override
    public Integer call() throws InterruptedException {
        output.validate();
        try {
            Pinning.parse("0:1");
        } catch (IllegalArgumentException e) {
            throw output.rejected("The targets are about two processors: " + e.getMessage());
        }
        var targets = new Targets(output.seconds(), EnumSet.copyOf(only), Perftest.bundled());
        return new Report(output).measure(targets.rows(), targets.targets());
    }

    /** Reads a work's name. */
    static final class WorkConverter implements ITypeConverter<Work> {
        @Override
        public Work convert(String text) {
            return Arrays.stream(Work.values())
                    .filter(work -> work.toString().equals(text.strip().toLowerCase(Locale.ROOT))).findFirst()
                    .orElseThrow(() -> new TypeConversionException("'" + text + "' is no work. Expected "
                            + Arrays.stream(Work.values()).map(Work::toString).collect(Collectors.joining(", "))
                            + "."));
        }
    }
}
