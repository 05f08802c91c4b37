// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.Setting;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;

/** Has processes work from their first message on, a number of times, and says how much they did in the middle. */
final class FirstSeconds {
    private static final int TIMES = 3;
    private static final long SECONDS = 60;
    private static final double EARLY_SECONDS = 0.1;

    private final Setting server;
    private final Setting client;
    private final Scenario scenario;
    private final Interruption interruption;

    FirstSeconds(Setting server, Setting client, Scenario scenario, Interruption interruption) {
        this.server = server;
        this.client = client;
        this.scenario = scenario;
        this.interruption = interruption;
    }

    Sample measure() throws InterruptedException {
        var early = new ArrayList<Double>();
        var later = new ArrayList<Double>();
        var operations = 0L;
        var lane = "none";
        for (var i = 0; i < TIMES; i++) {
            try (var serving = start(Newcomer.SERVER, server, scenario.serverCpus(), List.of())) {
                var port = await(serving, Newcomer.LISTENING);
                try (var asking = start(Newcomer.CLIENT, client, scenario.clientCpus(), List.of(port))) {
                    var counts = await(scenario.work() == Work.FIRST_LATENCY ? asking : serving, Newcomer.COUNTED)
                            .split(" ");
                    var first = Long.parseLong(counts[0]);
                    var all = Long.parseLong(counts[1]);
                    lane = counts[2];
                    early.add(first / EARLY_SECONDS);
                    later.add((all - first) / (1 - EARLY_SECONDS));
                    operations += all;
                    asking.stop();
                }
                serving.stop();
            }
        }
        var figures = new EnumMap<Metric, Double>(Metric.class);
        figures.put(Metric.RATE, Spread.of(later).orElseThrow().median());
        figures.put(Metric.EARLY_RATE, Spread.of(early).orElseThrow().median());
        return new Sample(lane, server.transport().software(), operations, TIMES, figures, null, null);
    }

    private ChildProcess start(String role, Setting setting, String cpus, List<String> more) {
        var arguments = new ArrayList<>(Starter.arguments(role, setting));
        arguments.addAll(List.of(scenario.work().name(), Integer.toString(scenario.size()),
                Integer.toString(scenario.flush())));
        arguments.addAll(more);
        return ChildProcess.start("the " + setting + " " + role, NettyContender.launcher(cpus),
                NettyContender.JVM_OPTIONS, Newcomer.class, arguments, Newcomer::isReport);
    }

    private String await(ChildProcess child, String report) throws InterruptedException {
        return Pair.await(child, report, SECONDS, interruption::check);
    }
}
