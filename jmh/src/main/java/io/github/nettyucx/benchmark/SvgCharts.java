// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Pictures for a page: each work's headline over the message size, both axes logarithmic, one line for each contender. */
final class SvgCharts {
    private static final int WIDTH = 760;
    private static final int HEIGHT = 420;
    private static final float LINE = 1.8f;
    private static final Pattern LONG_FRACTION = Pattern.compile("(\\.\\d{2})\\d+");
    /** So far above the others that these could not be told apart. */
    private static final Set<String> LEFT_OUT = Set.of("memcpy");

    private SvgCharts() {
    }

    /** Writes a file for each work that was measured with two sizes or more, named after it. */
    static void write(ResultFile result, Path directory) throws IOException {
        var works = new LinkedHashMap<Work, Map<String, TreeMap<Integer, Double>>>();
        var scenarios = new EnumMap<Work, Scenario>(Work.class);
        for (var row : result.results()) {
            var work = row.scenario().work();
            var metric = drawn(work);
            // Of several numbers of connections, say, the first.
            var scenario = Charts.withoutSize(row.scenario());
            if (metric != null && row.summary().containsKey(metric) && !LEFT_OUT.contains(row.contender())
                    && scenario.equals(scenarios.computeIfAbsent(work, _ -> scenario))) {
                works.computeIfAbsent(work, _ -> new LinkedHashMap<>())
                        .computeIfAbsent(name(row), _ -> new TreeMap<>())
                        .put(row.scenario().size(), row.summary().get(metric).median());
            }
        }
        for (var work : works.entrySet()) {
            if (work.getValue().values().stream().anyMatch(points -> points.size() > 1)) {
                var file = directory.resolve(work.getKey() + ".svg");
                VectorGraphicsEncoder.saveVectorGraphic(chart(work.getKey(), work.getValue()), file.toString(),
                        VectorGraphicsFormat.SVG);
                // Letters are drawn as well, in billionths of a pixel.
                Files.writeString(file, LONG_FRACTION.matcher(Files.readString(file)).replaceAll("$1"));
            }
        }
    }

    private static Metric drawn(Work work) {
        return switch (work) {
            case LATENCY -> Metric.P50;
            case THROUGHPUT, BIDIRECTIONAL -> Metric.BANDWIDTH;
            default -> null;
        };
    }

    private static String name(ResultFile.Result row) {
        return row.contender() + (row.lane().equals("-") ? "" : " " + row.lane());
    }

    private static XYChart chart(Work work, Map<String, TreeMap<Integer, Double>> lines) {
        var chart = new XYChartBuilder().width(WIDTH).height(HEIGHT)
                .title(work == Work.LATENCY ? "Round trip, median" : work == Work.THROUGHPUT ? "One way" : "Both ways")
                .xAxisTitle("bytes in a message").yAxisTitle(drawn(work).heading().replace("p50 ", "")).build();
        var style = chart.getStyler();
        style.setXAxisLogarithmic(true);
        style.setYAxisLogarithmic(true);
        style.setPlotGridVerticalLinesVisible(false);
        style.setLegendPosition(LegendPosition.OutsideE);
        style.setChartBackgroundColor(java.awt.Color.WHITE);
        lines.forEach((name, points) -> {
            var series = chart.addSeries(name, List.copyOf(points.keySet()), List.copyOf(points.values()));
            series.setMarker(SeriesMarkers.CIRCLE);
            series.setLineWidth(LINE);
        });
        return chart;
    }
}
