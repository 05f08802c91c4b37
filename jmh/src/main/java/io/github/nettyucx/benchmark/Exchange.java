// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.AbstractHistogram;

/** Latency and throughput: all active connections do the same, each so many times; beside many others or alone. */
final class Exchange {
    private final BenchmarkClient client;
    private final Scenario scenario;

    Exchange(BenchmarkClient client) {
        this.client = client;
        scenario = client.scenario();
    }

    ClientResult measure() throws InterruptedException {
        client.connectUpTo(scenario.connections());
        var active = client.handlers().subList(0, scenario.active());
        if (scenario.work() == Work.MANY) {
            Minutely.start(client.handlers().subList(scenario.active(), scenario.connections()));
        }
        var operations = Calibration.warmUp(scenario, client.compilers(),
                count -> client.runAll(active, phase(count), histograms(active)));
        var histograms = histograms(active);
        client.awaitStart();

        var before = client.state();
        var nanos = client.runAll(active, phase(operations), histograms);
        var after = client.end();
        return new ClientResult(sample(operations * active.size(), nanos / 1e9, histograms), before, after);
    }

    private static List<AbstractHistogram> histograms(List<ClientHandler> active) {
        return active.stream().map(_ -> (AbstractHistogram) Durations.newHistogram()).toList();
    }

    private Phase phase(long operations) {
        var kind = switch (scenario.work()) {
            case LATENCY, MANY -> Phase.Kind.ECHO;
            case THROUGHPUT -> Phase.Kind.TO_SERVER;
            case BIDIRECTIONAL -> Phase.Kind.BOTH_WAYS;
            default -> throw new IllegalStateException(scenario.work() + " is no exchange");
        };
        return new Phase(kind, scenario.size(), scenario.flush(), operations);
    }

    private Sample sample(long operations, double seconds, List<AbstractHistogram> histograms) {
        var messages = scenario.work() == Work.BIDIRECTIONAL ? 2 * operations : operations;
        var figures = new EnumMap<Metric, Double>(Map.of(Metric.RATE, messages / seconds));
        if (scenario.work().isOfRoundTrips()) {
            var merged = Durations.merge(histograms);
            figures.putAll(Durations.figures(merged));
            return new Sample(client.lanes(), client.software(), messages, seconds, figures,
                    Durations.percentiles(merged), Durations.encode(merged));
        }
        figures.put(Metric.BANDWIDTH, messages / seconds * scenario.size() / 1e9);
        return new Sample(client.lanes(), client.software(), messages, seconds, figures, null, null);
    }
}
