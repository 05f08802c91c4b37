// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.TextTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Rows as text for a terminal: a table for each work. Figures are medians over the rounds, with their range; a ratio
 * says how many times better than another contender of the same scenario a row is.
 */
final class ReportTable {
    private ReportTable() {
    }

    static String render(List<Row> rows) {
        var tables = new StringBuilder();
        byWork(rows).forEach((work, some) -> tables.append(tables.isEmpty() ? "" : "\n").append(render(work, some)));
        rows.stream().filter(row -> row.failure() != null)
                .map(row -> row + ", " + row.scenario() + ": " + row.failure() + "\n").distinct()
                .forEach(tables::append);
        return tables.toString();
    }

    private static Map<Work, List<Row>> byWork(List<Row> rows) {
        return rows.stream().collect(Collectors.groupingBy(row -> row.scenario().work(), LinkedHashMap::new,
                Collectors.toList()));
    }

    private static String render(Work work, List<Row> rows) {
        var references = Comparison.references(rows);
        var table = new TextTable().left("scenario").left("contender").left("lane").left("wait");
        for (var metric : work.metrics()) {
            table.right(metric.heading());
            if (metric == work.headline()) {
                table.left("min..max");
            }
        }
        references.forEach(name -> table.right("to " + name + (work.headline() == Metric.P50 ? " (p50, p99, p99.9)" : "")));
        Scenario before = null;
        for (var row : rows) {
            var cells = new ArrayList<>(List.of(row.scenario().equals(before) ? "" : row.scenario().toString(),
                    row.contender().name(), row.lane(), row.contender().waitMode()));
            before = row.scenario();
            for (var metric : work.metrics()) {
                var spread = row.spread(metric);
                cells.add(spread.map(value -> metric.format(value.median())).orElse("–"));
                if (metric == work.headline()) {
                    cells.add(spread.map(value -> metric.format(value.min()) + ".." + metric.format(value.max()))
                            .orElse(row.failure() != null ? "see below" : row.disturbed().isEmpty() ? "" : "disturbed"));
                }
            }
            for (var name : references) {
                cells.add(ratios(rows, row, name));
            }
            table.row(cells);
        }
        return table.render();
    }

    private static String ratios(List<Row> rows, Row row, String reference) {
        var ratios = row.scenario().work().compared().stream()
                .map(metric -> Comparison.ratio(rows, row, metric, reference)).filter(Optional::isPresent)
                .map(ratio -> String.format(Locale.ROOT, "%.2f×", ratio.orElseThrow())).toList();
        return ratios.isEmpty() ? "–" : String.join(" ", ratios);
    }

    /** What others did to the run. */
    static String disturbances(List<Row> rows, Gauge gauge) {
        if (gauge.good() == Double.POSITIVE_INFINITY) {
            return "Nothing tells whether others had the processors: " + gauge.reason() + "\n";
        }
        var disturbed = rows.stream().mapToInt(row -> row.disturbed().size()).sum();
        var measured = rows.stream().mapToInt(row -> row.samples().size()).sum() + disturbed;
        return String.format(Locale.ROOT, "%d of %d measurements were disturbed, do not count, and were made again up to "
                + "twice: plain UCX's round trip took more than %.1f times the %.2f µs of its good minutes before or after "
                + "them, or the limit missed its own best by as much.%n",
                disturbed, measured, Gauge.TOLERANCE, gauge.good())
                + (gauge.isIncomplete() ? "Not all is known of that: " + gauge.reason() + "\n" : "");
    }
}
