// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import static io.github.nettyucx.examples.TextTable.decimals;
import static io.github.nettyucx.examples.TextTable.ratio;
import static io.github.nettyucx.examples.TextTable.whole;

import io.github.nettyucx.examples.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Results as aligned text for a terminal. */
final class GrpcTable {
    private GrpcTable() {
    }

    static String render(List<GrpcResult> results, GrpcLoad load) {
        var compared = results.stream().anyMatch(result -> baseline(result, results).isPresent());
        var table = new TextTable().left("transport").left("lane").left("security")
                .right("calls/s").right("p50 µs").right("p90 µs").right("p99 µs").right("p99.9 µs").right("max µs")
                .right("calls/s, " + load.concurrency() + " at a time");
        if (compared) {
            table.left("p50 to default").left("calls/s to default");
        }
        for (var result : results) {
            var latency = result.latency();
            var row = new ArrayList<>(List.of(
                    result.transport().toString(), result.lane(), result.tls() ? "TLS" : "plaintext",
                    whole(result.callsPerSecond()),
                    decimals(latency.p50()), decimals(latency.p90()), decimals(latency.p99()),
                    decimals(latency.p999()), decimals(latency.max()), whole(result.concurrentCallsPerSecond())));
            if (compared) {
                var other = baseline(result, results);
                row.add(other.map(it -> ratio(it.latency().p50() / latency.p50())).orElse("–"));
                row.add(other.map(it -> ratio(result.concurrentCallsPerSecond() / it.concurrentCallsPerSecond()))
                        .orElse("–"));
            }
            table.row(row);
        }
        return table.render();
    }

    /** What a result is compared with: gRPC's own transport, with the same security. */
    private static Optional<GrpcResult> baseline(GrpcResult result, List<GrpcResult> results) {
        return results.stream().filter(other -> other.transport() == GrpcTransport.DEFAULT
                && result.transport() != GrpcTransport.DEFAULT && other.tls() == result.tls()).findFirst();
    }
}
