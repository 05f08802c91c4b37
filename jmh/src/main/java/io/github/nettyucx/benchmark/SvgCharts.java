// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.WaitMode;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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
    private static final float[] DASHES = {7, 4};
    /** Of the same contender, ways to wait. */
    private static final Map<WaitMode, float[]> WAITS = Map.of(WaitMode.SPIN, new float[] {2, 3},
            WaitMode.PARK, new float[] {9, 3, 2, 3});
    private static final int MARKER = 5;
    private static final Font TEXT = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
    private static final Color GRID = new Color(0xe4e4e4);
    /** So that at least six sizes are told, and none overlaps the next. */
    private static final int LABEL_WIDTH = 100;
    private static final String THE_LIMIT = "limit (UCX in C)";
    /** The same one has the same colour in each picture; colours that are told apart without red and green as well. */
    private static final Map<String, Color> COLOURS = colours();
    private static final List<Color> OTHER_COLOURS =
            List.of(new Color(0xcc79a7), new Color(0x8c6d31), new Color(0x7f7f7f), new Color(0x6a51a3));
    private static final Set<String> PEERS = Set.of("nio", "epoll", "io_uring");
    private static final Pattern LONG_FRACTION = Pattern.compile("(\\.\\d{2})\\d+");
    /** So far above the others that these could not be told apart. */
    private static final Set<String> LEFT_OUT = Set.of("memcpy");
    private static final String LIMIT = "ucx_perftest";

    /**
     * Contenders that differ in how they wait have one colour and several strokes.
     *
     * @param waitMode {@code null} where all wait in one way
     */
    private record Line(String name, WaitMode waitMode) {
        String label() {
            return waitMode == null ? name : name + " " + waitMode;
        }

        BasicStroke stroke() {
            var dashes = name.startsWith(THE_LIMIT) ? DASHES : waitMode == null ? null : WAITS.get(waitMode);
            return dashes == null ? new BasicStroke(LINE)
                    : new BasicStroke(LINE, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, dashes, 0);
        }
    }

    private SvgCharts() {
    }

    private static Map<String, Color> colours() {
        var colours = new LinkedHashMap<String, Color>();
        colours.put(THE_LIMIT, Color.BLACK);
        colours.put("ucx shm", new Color(0x0050b5));
        colours.put("ucx socket", new Color(0x56b4e9));
        colours.put("io_uring", new Color(0xd55e00));
        colours.put("epoll", new Color(0x009e73));
        colours.put("nio", new Color(0xe6b800));
        return colours;
    }

    /** Writes a file for each work that was measured with two sizes or more, named after it. */
    static void write(ResultFile result, Path directory) throws IOException {
        var works = new LinkedHashMap<Work, Map<Line, TreeMap<Integer, Double>>>();
        var scenarios = new EnumMap<Work, Scenario>(Work.class);
        var leftOut = leftOut(result);
        var severalWaits = result.results().stream().map(ResultFile.Result::waitMode).filter(wait -> !wait.equals("-"))
                .distinct().count() > 1;
        for (var row : result.results()) {
            var work = row.scenario().work();
            var metric = drawn(work);
            // Of several numbers of connections, say, the first.
            var scenario = Charts.withoutSize(row.scenario());
            if (metric != null && row.summary().containsKey(metric) && !leftOut.contains(row.contender())
                    && scenario.equals(scenarios.computeIfAbsent(work, _ -> scenario))) {
                works.computeIfAbsent(work, _ -> new LinkedHashMap<>())
                        .computeIfAbsent(line(row, severalWaits), _ -> new TreeMap<>())
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

    /** Beside messages of the peers, what goes into a peer's memory is another matter. */
    private static Set<String> leftOut(ResultFile result) {
        var names = result.results().stream().map(ResultFile.Result::contender).collect(Collectors.toSet());
        var leftOut = new HashSet<>(LEFT_OUT);
        if (names.stream().anyMatch(PEERS::contains)) {
            for (var kind : OneSided.Kind.values()) {
                leftOut.add(kind.toString());
            }
            names.stream().filter(name -> name.startsWith(LIMIT + " ")).forEach(leftOut::add);
        }
        return leftOut;
    }

    private static Line line(ResultFile.Result row, boolean severalWaits) {
        return new Line(name(row), !severalWaits || row.waitMode().equals("-") ? null
                : WaitMode.valueOf(row.waitMode().toUpperCase(Locale.ROOT)));
    }

    private static String name(ResultFile.Result row) {
        if (row.contender().equals(LIMIT)) {
            return row.lane().equals("shm") ? THE_LIMIT : THE_LIMIT + " " + row.lane();
        }
        return row.contender() + (row.lane().equals("-") ? "" : " " + row.lane());
    }

    private static XYChart chart(Work work, Map<Line, TreeMap<Integer, Double>> lines) {
        var chart = new XYChartBuilder().width(WIDTH).height(HEIGHT)
                .title(work == Work.LATENCY ? "There and back, median" : work == Work.THROUGHPUT ? "One way" : "Both ways")
                .xAxisTitle("bytes in a message").yAxisTitle(work == Work.LATENCY ? "microseconds" : "GB/s").build();
        var style = chart.getStyler();
        style.setYAxisLogarithmic(true);
        style.setYAxisDecimalPattern("#,##0.####");
        // Sizes are powers of two, and a logarithmic axis has those of ten: the axis is one of exponents.
        style.setXAxisTickMarkSpacingHint(LABEL_WIDTH);
        chart.setCustomXAxisTickLabelsFormatter(exponent -> exponent == Math.rint(exponent) && exponent >= 0
                && exponent < Integer.SIZE - 1 ? new ByteSize(1 << exponent.intValue()).toString() : "");
        style.setPlotGridVerticalLinesVisible(false);
        style.setPlotGridLinesColor(GRID);
        style.setPlotGridLinesStroke(new BasicStroke(1));
        style.setLegendPosition(LegendPosition.OutsideE);
        style.setLegendBorderColor(Color.WHITE);
        style.setChartBackgroundColor(Color.WHITE);
        style.setMarkerSize(MARKER);
        style.setLegendFont(TEXT);
        style.setAxisTickLabelsFont(TEXT);
        style.setAxisTitleFont(TEXT);
        var others = OTHER_COLOURS.iterator();
        var colours = new LinkedHashMap<>(COLOURS);
        lines.keySet().forEach(line ->
                colours.computeIfAbsent(line.name(), _ -> others.hasNext() ? others.next() : Color.GRAY));
        var order = List.copyOf(colours.keySet());
        var ordered = lines.keySet().stream().sorted(Comparator.comparingInt(line -> order.indexOf(line.name()))).toList();
        for (var line : ordered) {
            var points = lines.get(line);
            var series = chart.addSeries(line.label(), points.keySet().stream().map(SvgCharts::exponent).toList(),
                    List.copyOf(points.values()));
            var colour = colours.get(line.name());
            series.setLineColor(colour);
            series.setMarkerColor(colour);
            series.setMarker(SeriesMarkers.CIRCLE);
            series.setLineStyle(line.stroke());
        }
        return chart;
    }

    private static double exponent(int size) {
        return Math.log(size) / Math.log(2);
    }
}
