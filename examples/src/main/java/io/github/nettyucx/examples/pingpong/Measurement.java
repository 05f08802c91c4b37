// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.HdrHistogram.AbstractHistogram;

/**
 * One row of the result.
 *
 * @param lane what carried the bytes, for example {@code sysv} or {@code tcp}
 * @param waitMode how the event loops waited, or {@code default}
 * @param software the transport's software and version
 * @param roundTripsPerSecond of all connections together
 * @param rtt round trip times
 */
record Measurement(TransportKind transport, String lane, String waitMode, String software, Workload load,
                   double roundTripsPerSecond, RoundTripTimes rtt) {

    /** All in microseconds. */
    record RoundTripTimes(double min, double mean, double p50, double p99, double p999, double max) {
        private static RoundTripTimes of(AbstractHistogram nanos) {
            return new RoundTripTimes(micros(nanos.getMinValue()), micros(nanos.getMean()),
                    micros(nanos.getValueAtPercentile(50)), micros(nanos.getValueAtPercentile(99)),
                    micros(nanos.getValueAtPercentile(99.9)), micros(nanos.getMaxValue()));
        }

        private static double micros(double nanos) {
            return Math.round(nanos) / 1000.0;
        }
    }

    /**
     * @param nanos histogram of all measured round trips
     * @param duration of the measured part, in nanoseconds
     */
    static Measurement of(Setting setting, String lane, Workload load, AbstractHistogram nanos, long duration) {
        return new Measurement(setting.transport(), lane,
                setting.waitMode() == null ? "default" : setting.waitMode().toString(),
                setting.transport().software(), load,
                Math.round(nanos.getTotalCount() * 1e10 / duration) / 10.0, RoundTripTimes.of(nanos));
    }

    /** One line of {@code name=value} pairs, for {@link #parse} in another process. */
    String toLine() {
        return Map.ofEntries(
                Map.entry("transport", transport.name()),
                Map.entry("lane", lane),
                Map.entry("wait", waitMode),
                Map.entry("software", software),
                Map.entry("size", load.size().bytes()),
                Map.entry("connections", load.connections()),
                Map.entry("threads", load.threads()),
                Map.entry("iterations", load.iterations()),
                Map.entry("warmup", load.warmup()),
                Map.entry("rate", roundTripsPerSecond),
                Map.entry("min", rtt.min),
                Map.entry("mean", rtt.mean),
                Map.entry("p50", rtt.p50),
                Map.entry("p99", rtt.p99),
                Map.entry("p999", rtt.p999),
                Map.entry("max", rtt.max)).entrySet().stream()
                .map(entry -> entry.getKey() + "="
                        + URLEncoder.encode(entry.getValue().toString(), StandardCharsets.UTF_8))
                .sorted()
                .collect(Collectors.joining(" "));
    }

    static Measurement parse(String line) {
        var values = new HashMap<String, String>();
        for (var pair : line.split(" ")) {
            var equals = pair.indexOf('=');
            values.put(pair.substring(0, equals),
                    URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
        }
        return new Measurement(TransportKind.valueOf(values.get("transport")), values.get("lane"),
                values.get("wait"), values.get("software"),
                new Workload(new ByteSize(Integer.parseInt(values.get("size"))),
                        Integer.parseInt(values.get("connections")), Integer.parseInt(values.get("threads")),
                        Long.parseLong(values.get("iterations")), Long.parseLong(values.get("warmup"))),
                number(values, "rate"),
                new RoundTripTimes(number(values, "min"), number(values, "mean"), number(values, "p50"),
                        number(values, "p99"), number(values, "p999"), number(values, "max")));
    }

    private static double number(Map<String, String> values, String name) {
        return Double.parseDouble(values.get(name));
    }
}
