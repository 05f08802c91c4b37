// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleRunner;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Compares transports in two processes on this host: the command line of it. */
@Command(
        sortOptions = false,
        description = {
            "Measures this transport, Netty's others and UCX's own limit, each in two processes on this host, in turns, "
                    + "and compares the medians. Without a command: all.%n"},
        subcommands = {
            AllCommand.class, WorkCommand.Latency.class, WorkCommand.Throughput.class, WorkCommand.Bidirectional.class,
            WorkCommand.Connect.class, WorkCommand.Memory.class, WorkCommand.Idle.class, WorkCommand.Fairness.class,
            WorkCommand.Many.class, WorkCommand.Start.class, WorkCommand.FirstSecond.class, CallCommand.Unary.class,
            CallCommand.Stream.class, MessagingCommand.class, OneSidedCommand.class, ApplicationsCommand.class},
        footer = {
            "",
            "Examples:",
            "  ./run-benchmark.sh",
            "  ./run-benchmark.sh latency --pin 0:1",
            "  ./run-benchmark.sh latency --size 1..1m --lane shm,socket --report report",
            "  ./run-benchmark.sh throughput --connections 1,4,16 --loops 2 --json throughput.json",
            "",
            "'./run-benchmark.sh WORK --help' tells the options of a work."})
public final class Benchmark implements Callable<Integer> {
    private static final String NAME = "run-benchmark.sh";

    @Spec
    private CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help.")
    private boolean help;

    public static void main(String[] args) {
        ExampleRunner.main("./" + NAME, NAME, new Benchmark(), args);
    }

    @Override
    public Integer call() {
        return spec.commandLine().getSubcommands().get(AllCommand.NAME).execute();
    }

    /** What a work takes if it is not told. */
    static final class Defaults implements IDefaultValueProvider {
        private static final Map<String, String> SIZES = Map.of("fairness", "1k", "many", "16",
                "grpc-unary", "100", "grpc-stream", "100");
        private static final Map<String, String> CONNECTIONS = Map.of("connect", "16", "memory", "1,100,1000,4000",
                "idle", "1000", "fairness", "17", "many", "10000");

        @Override
        public String defaultValue(ArgSpec argument) {
            var command = argument.command().name();
            return switch (argument instanceof OptionSpec option ? option.longestName() : "") {
                case "--size" -> SIZES.getOrDefault(command, "16,1k,64k");
                case "--connections" -> CONNECTIONS.getOrDefault(command, "1");
                default -> null;
            };
        }
    }
}
