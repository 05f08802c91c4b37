// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ByteSize;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/** What is drawn on the report's page: medians over the rounds. */
final class Charts {
    private static final Metric[] DRAWN = {Metric.P50, Metric.RATE, Metric.BANDWIDTH};

    /**
     * @param labels of the horizontal axis
     * @param logarithmic whether the vertical axis is
     */
    record Chart(String title, String horizontal, String vertical, boolean logarithmic, List<String> labels,
                 List<Series> series) {
    }

    /**
     * @param values one for each label, {@code null} where there is none
     */
    record Series(String name, List<Double> values) {
    }

    private Charts() {
    }

    static List<Chart> of(ResultFile file) {
        var charts = new ArrayList<Chart>();
        var measured = file.results().stream().filter(row -> !row.rounds().isEmpty()).toList();
        group(measured, ResultFile.Result::scenario).values().forEach(rows -> percentiles(charts, rows));
        for (var metric : DRAWN) {
            over(charts, measured, metric, "message size", Scenario::size, size -> new ByteSize(size).toString(),
                    Charts::withoutSize);
            over(charts, measured, metric, "connections", Scenario::connections, String::valueOf,
                    Charts::withoutConnections);
        }
        return charts;
    }

    /** How a series is called. */
    static String name(ResultFile.Result row) {
        return row.contender() + (row.lane().equals("-") ? "" : " " + row.lane())
                + (row.waitMode().equals("-") ? "" : " " + row.waitMode());
    }

    private static void percentiles(List<Chart> charts, List<ResultFile.Result> rows) {
        var some = rows.stream().filter(row -> row.rounds().getFirst().percentiles() != null).toList();
        if (some.isEmpty()) {
            return;
        }
        var labels = List.copyOf(some.getFirst().rounds().getFirst().percentiles().keySet());
        charts.add(new Chart("Percentiles: " + some.getFirst().scenario(), "percentile", "µs", true, labels,
                some.stream().map(row -> new Series(name(row), labels.stream()
                        .map(label -> Spread.of(row.rounds().stream().map(sample -> sample.percentiles().get(label))
                                .toList()).orElseThrow().median()).toList())).toList()));
    }

    private static void over(List<Chart> charts, List<ResultFile.Result> rows, Metric metric, String horizontal,
                             ToIntFunction<Scenario> variable, Function<Integer, String> label,
                             Function<Scenario, Scenario> rest) {
        var drawn = rows.stream().filter(row -> row.summary().containsKey(metric)).toList();
        group(drawn, row -> rest.apply(row.scenario())).values().forEach(group -> {
            var points = group.stream().map(row -> variable.applyAsInt(row.scenario()))
                    .collect(Collectors.toCollection(TreeSet::new));
            if (points.size() < 2) {
                return;
            }
            var series = new ArrayList<Series>();
            group(group, Charts::name).forEach((name, of) -> series.add(new Series(name, points.stream()
                    .map(point -> of.stream().filter(row -> variable.applyAsInt(row.scenario()) == point).findFirst()
                            .map(row -> row.summary().get(metric).median()).orElse(null)).toList())));
            charts.add(new Chart(metric.heading() + " over " + horizontal + ": " + title(group.getFirst(), horizontal),
                    horizontal, metric.heading(), true, points.stream().map(label).toList(), series));
        });
    }

    private static String title(ResultFile.Result row, String horizontal) {
        var scenario = row.scenario();
        return scenario.work() + (horizontal.equals("connections") ? ", " + new ByteSize(scenario.size())
                : ", " + scenario.connections() + " connection(s)")
                + (scenario.executor() == null ? "" : ", " + scenario.active() + " at a time, " + scenario.executor()
                + " executor")
                + (scenario.isPlain() ? "" : ", " + scenario.security())
                + (scenario.isPinned() ? ", pinned " + scenario.pinning() : "");
    }

    /** What scenarios have in common that differ in the message size only. */
    static Scenario withoutSize(Scenario s) {
        return new Scenario(s.work(), 1, s.connections(), s.active(), s.loops(), 1,
                s.receiveBuffer(), s.operations(), s.seconds(), s.serverCpus(), s.clientCpus(), s.security(),
                s.executor());
    }

    /** Scenarios with all connections active belong together, and so do those with the same number of them. */
    private static Scenario withoutConnections(Scenario s) {
        return new Scenario(s.work(), s.size(), 1, s.active() == s.connections() ? 0 : s.active(), s.loops(),
                s.flush(), s.receiveBuffer(), s.operations(), s.seconds(), s.serverCpus(), s.clientCpus(), s.security(),
                s.executor());
    }

    private static <K> Map<K, List<ResultFile.Result>> group(List<ResultFile.Result> rows,
                                                             Function<ResultFile.Result, K> key) {
        return rows.stream().collect(Collectors.groupingBy(key, LinkedHashMap::new, Collectors.toList()));
    }
}
