// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures an unmodified application with the agent and without it. */
@Command(name = ApplicationsCommand.NAME, sortOptions = false, sortSynopsis = false,
        description = "An unmodified application with the agent and without it: Apache Ratis over gRPC, three servers and a "
                + "client, each a process. Writes per second, and reads per second, each for --seconds; before that for 15 "
                + "seconds each that do not count.%n")
final class ApplicationsCommand implements Callable<Integer> {
    static final String NAME = "applications";

    @Option(names = "--pin", paramLabel = "SERVER:CLIENT", converter = Pinning.Converter.class,
            description = "The processors that the servers and the client may use, as in 0,1:0,1. Default: all.")
    private Pinning pinning = Pinning.NONE;

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws InterruptedException {
        output.validate();
        var scenario = scenario(output.seconds(), pinning.server(), pinning.client());
        var with = new Row(scenario, new Ratis(true));
        var without = new Row(scenario, new Ratis(false));
        return new Report(output).measure(List.of(without, with), targets(with, without));
    }

    static Scenario scenario(double seconds, String serverCpus, String clientCpus) {
        return new Scenario(Work.APPLICATIONS, Ratis.ENTRY, Ratis.SERVERS, Ratis.OUTSTANDING, 1, 1, 0, 0, seconds, serverCpus,
                clientCpus);
    }

    static List<Target> targets(Row with, Row without) {
        var what = "Ratis, " + Ratis.SERVERS + " servers and a client, with the agent: ";
        return List.of(new Target(what + "writes", with, Metric.RATE, without, 1),
                new Target(what + "reads", with, Metric.READ_RATE, without, 1));
    }
}
