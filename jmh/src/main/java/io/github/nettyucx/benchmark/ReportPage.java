// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Properties;
import java.util.stream.Collectors;

/** A page with charts that needs nothing beside itself: Chart.js is in it. */
final class ReportPage {
    private static final String CHART_JS = "META-INF/maven/org.webjars.npm/chart.js/pom.properties";
    private static final String TEMPLATE = "/io/github/nettyucx/benchmark/report.html";

    private ReportPage() {
    }

    static String render(ResultFile result) throws IOException {
        var machine = result.machine();
        return resource(TEMPLATE)
                .replace("@STARTED@", result.started().toString())
                .replace("@MACHINE@", escape(String.format(Locale.ROOT, "%s, %d processors, %.1f GiB, %s, %s; load "
                                + "average before: %.2f", machine.processor(), machine.processors(),
                        machine.memoryBytes() / 0x1p30, machine.os(), machine.java(), machine.loadAverage())))
                .replace("@COMMAND@", escape("./run-benchmark.sh " + String.join(" ", result.command())))
                .replace("@COMPLETE@", result.complete() ? "" : " The run was interrupted.")
                .replace("@ROUNDS@", Integer.toString(result.rounds()))
                .replace("@TARGETS@", targets(result))
                .replace("@TABLE@", table(result))
                // Gson escapes what could end the script.
                .replace("@CHARTS@", Json.LINE.toJson(Charts.of(result)))
                .replace("@CHART_JS@", chartJs());
    }

    private static String targets(ResultFile result) {
        if (result.targets().isEmpty()) {
            return "";
        }
        return "<h2>Targets</h2>\n<table><tr><th>target<th>goal<th>measured<th>met\n" + result.targets().stream()
                .map(outcome -> "<tr class=\"" + (outcome.met() == null ? "" : outcome.met() ? "met" : "missed")
                        + "\"><td>" + escape(outcome.target()) + "<td>" + escape(outcome.goal()) + "<td class=n>"
                        + (outcome.measured() == null ? "–" : String.format(Locale.ROOT, "%,.2f", outcome.measured()))
                        + "<td>" + (outcome.met() == null ? "?" : outcome.met() ? "yes" : "no"))
                .collect(Collectors.joining("\n")) + "\n</table>\n";
    }

    private static String table(ResultFile result) {
        return result.results().stream().map(row -> "<tr><td>" + escape(row.scenario().toString())
                        + "<td>" + escape(Charts.name(row)) + "<td>"
                        + (row.failure() != null ? escape(row.failure()) : row.summary().entrySet().stream()
                        .map(figure -> escape(figure.getKey().heading()) + " <b>"
                                + figure.getKey().format(figure.getValue().median()) + "</b> ("
                                + figure.getKey().format(figure.getValue().min()) + ".."
                                + figure.getKey().format(figure.getValue().max()) + ")")
                        .collect(Collectors.joining(", "))))
                .collect(Collectors.joining("\n"));
    }

    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }

    private static String chartJs() throws IOException {
        var properties = new Properties();
        try (var in = ReportPage.class.getClassLoader().getResourceAsStream(CHART_JS)) {
            if (in == null) {
                throw new FileNotFoundException(CHART_JS);
            }
            properties.load(in);
        }
        return resource("/META-INF/resources/webjars/chart.js/" + properties.getProperty("version")
                + "/dist/chart.umd.min.js");
    }

    private static String resource(String name) throws IOException {
        try (var in = ReportPage.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new FileNotFoundException(name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
