// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Nodes of the messaging module that all send to each other, each in a process of its own. */
record AllToAll(Setting setting) implements Contender {
    @Override
    public String name() {
        return "messaging over " + setting.transport();
    }

    @Override
    public String lane() {
        return setting.transport() == TransportKind.UCX ? setting.lane().toString() : "-";
    }

    @Override
    public String waitMode() {
        return setting.waitMode() == null ? "-" : setting.waitMode().toString();
    }

    @Override
    public Sample measure(Scenario scenario, Interruption interruption) throws InterruptedException {
        var nodes = new ArrayList<ChildProcess>();
        try {
            for (var id = 0; id < scenario.connections(); id++) {
                nodes.add(ChildProcess.start("node " + id + " of " + setting, List.of(), NettyContender.JVM_OPTIONS,
                        AllToAllNode.class, List.of(Json.LINE.toJson(new Task(scenario, setting)), Integer.toString(id)),
                        Child::isReport));
            }
            var addresses = await(nodes, Child.LISTENING, Limits.ready(scenario), interruption);
            tell(nodes, String.join(AllToAllNode.SEPARATOR, addresses));
            await(nodes, Child.READY, Limits.ready(scenario), interruption);
            // All send now. They are measured when the compilers of all of them rest.
            tell(nodes, Child.GO);
            await(nodes, Child.READY, Limits.ready(scenario), interruption);
            tell(nodes, Child.GO);
            return together(scenario, await(nodes, Child.RESULT, Limits.measured(scenario), interruption)
                    .stream().map(result -> Json.LINE.fromJson(result, Sample.class)).toList());
        } catch (ExampleFailure e) {
            // Ctrl-C goes to the children too.
            interruption.check();
            throw e;
        } finally {
            // They send until they end.
            nodes.forEach(ChildProcess::close);
        }
    }

    private static void tell(List<ChildProcess> nodes, String order) {
        nodes.forEach(node -> node.tell(order));
    }

    private static List<String> await(List<ChildProcess> nodes, String report, long seconds, Interruption interruption)
            throws InterruptedException {
        var reports = new ArrayList<String>();
        for (var node : nodes) {
            reports.add(Pair.await(node, report, seconds, interruption::check));
        }
        return reports;
    }

    /** What all nodes have received, in about the same time. */
    static Sample together(Scenario scenario, List<Sample> samples) {
        var operations = samples.stream().mapToLong(Sample::operations).sum();
        var rate = samples.stream().mapToDouble(sample -> sample.figures().get(Metric.RATE)).sum();
        var bytes = samples.stream()
                .mapToDouble(sample -> sample.figures().get(Metric.ALLOCATION) * sample.operations()).sum();
        var figures = new EnumMap<Metric, Double>(Map.of(Metric.RATE, rate, Metric.BANDWIDTH, rate * scenario.size() / 1e9,
                Metric.ALLOCATION, bytes / Math.max(1, operations)));
        var first = samples.getFirst();
        return new Sample(first.lane(), first.software(), operations, first.seconds(), figures, null, null);
    }
}
