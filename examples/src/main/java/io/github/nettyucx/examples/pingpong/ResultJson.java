// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Measurements as JSON; sizes in bytes, times in microseconds. */
final class ResultJson {
    private ResultJson() {
    }

    static String render(List<Measurement> measurements) {
        var nio = ResultTable.baseline(measurements);
        return String.format(Locale.ROOT, """
                {
                  "java": %s,
                  "os": %s,
                  "processors": %d,
                  "results": [
                %s
                  ]
                }
                """, quote(Runtime.version().toString()),
                quote(System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch")),
                Runtime.getRuntime().availableProcessors(),
                measurements.stream()
                        .map(m -> result(m, nio.map(other -> other.rtt().p50() / m.rtt().p50()).orElse(null)))
                        .collect(Collectors.joining(",\n")));
    }

    private static String result(Measurement m, Double timesFasterThanNio) {
        return String.format(Locale.ROOT, """
                    {
                      "transport": %s,
                      "lane": %s,
                      "wait": %s,
                      "software": %s,
                      "size": %d,
                      "connections": %d,
                      "threads": %d,
                      "iterations": %d,
                      "warmup": %d,
                      "roundTripsPerSecond": %s,
                      "rttMicros": {"min": %s, "mean": %s, "p50": %s, "p99": %s, "p99.9": %s, "max": %s},
                      "p50TimesFasterThanNio": %s
                    }""".indent(4).stripTrailing(), quote(m.transport().toString()), quote(m.lane()),
                quote(m.waitMode()), quote(m.software()), m.load().size().bytes(), m.load().connections(),
                m.load().threads(), m.load().iterations(), m.load().warmup(), number(m.roundTripsPerSecond()),
                number(m.rtt().min()), number(m.rtt().mean()), number(m.rtt().p50()), number(m.rtt().p99()),
                number(m.rtt().p999()), number(m.rtt().max()),
                timesFasterThanNio == null ? "null" : number(timesFasterThanNio));
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.3f", value);
    }

    static String quote(String text) {
        var quoted = new StringBuilder("\"");
        for (var c : text.toCharArray()) {
            switch (c) {
                case '"' -> quoted.append("\\\"");
                case '\\' -> quoted.append("\\\\");
                default -> quoted.append(c < ' ' ? String.format(Locale.ROOT, "\\u%04x", (int) c) : c);
            }
        }
        return quoted.append('"').toString();
    }
}
