// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
            converter = PartConverter.class, description = "Leave the other works out. one-sided is one of its own here.")
    private List<String> only = parts();

    @Override
    public Integer call() throws InterruptedException {
        output.validate();
        try {
            Pinning.parse("0:1");
        } catch (IllegalArgumentException e) {
            throw output.rejected("The targets are about two processors: " + e.getMessage());
        }
        var works = Arrays.stream(Work.values()).filter(work -> only.contains(work.toString()))
                .collect(Collectors.toSet());
        var targets = new Targets(output.seconds(), works, only.contains(OneSidedCommand.NAME), Perftest.bundled());
        return new Report(output).measure(targets.rows(), targets.targets());
    }

    /** The works, and operations on a peer's memory, which belong to several of them. */
    private static List<String> parts() {
        return Stream.concat(Arrays.stream(Work.values()).map(Work::toString), Stream.of(OneSidedCommand.NAME)).toList();
    }

    private static String known(String text, List<String> names) {
        var name = text.strip().toLowerCase(Locale.ROOT);
        if (!names.contains(name)) {
            throw new TypeConversionException("'" + text + "' is no work. Expected " + String.join(", ", names) + ".");
        }
        return name;
    }

    /** Reads the name of a part. */
    static final class PartConverter implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            return known(text, parts());
        }
    }

    /** Reads a work's name. */
    static final class WorkConverter implements ITypeConverter<Work> {
        @Override
        public Work convert(String text) {
            var name = known(text, Arrays.stream(Work.values()).map(Work::toString).toList());
            return Work.valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
        }
    }
}
