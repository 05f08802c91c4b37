// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import static io.github.nettyucx.examples.TextTable.decimals;
import static io.github.nettyucx.examples.TextTable.ratio;
import static io.github.nettyucx.examples.TextTable.whole;

import io.github.nettyucx.examples.TextTable;
import io.github.nettyucx.examples.TransportKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Measurements as aligned text for a terminal. */
final class ResultTable {
    private ResultTable() {
    }

    /** A line ends with a line feed, whatever the platform. */
    static String render(List<Measurement> measurements) {
        var table = new TextTable();
        var nio = baseline(measurements);
        table.left("transport").left("lane").right("size").right("connections").right("round trips/s")
                .right("RTT mean µs").right("p50 µs").right("p99 µs").right("p99.9 µs");
        nio.ifPresent(_ -> table.left("p50 to nio"));
        for (var measurement : measurements) {
            var rtt = measurement.rtt();
            var row = new ArrayList<>(List.of(
                    measurement.transport().toString(),
                    measurement.lane(),
                    measurement.load().size().toString(),
                    whole(measurement.load().connections()),
                    whole(measurement.roundTripsPerSecond()),
                    decimals(rtt.mean()), decimals(rtt.p50()), decimals(rtt.p99()), decimals(rtt.p999())));
            nio.ifPresent(other -> row.add(measurement == other ? "–" : ratio(other.rtt().p50() / rtt.p50())));
            table.row(row);
        }
        return table.render();
    }

    /** What the others are compared with. */
    static Optional<Measurement> baseline(List<Measurement> measurements) {
        return measurements.stream().filter(candidate -> candidate.transport() == TransportKind.NIO).findFirst();
    }
}
