// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import static io.github.nettyucx.examples.TextTable.decimals;
import static io.github.nettyucx.examples.TextTable.whole;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Progress;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TextTable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Measures each way with a broker of its own, and puts the results next to each other. */
final class LogComparison {
    private static final int PRODUCERS = 5;
    private static final int PACED = 1000;
    private static final double FEW = 10;

    /** One line of the table. */
    record Row(Setting setting, LogWay way, ByteSize size, LogResult one, LogResult busy, List<LogResult> many,
               LogResult received) {
    }

    private final List<String> ofBroker;
    private final Path directory;
    private final int seconds;
    private final Progress progress;

    /**
     * @param directory for the brokers' files; {@code null}: one that is made, and deleted
     * @param ofBroker arguments beside that
     */
    LogComparison(Path directory, List<String> ofBroker, int seconds, Progress progress) {
        this.directory = directory;
        this.ofBroker = ofBroker;
        this.seconds = seconds;
        this.progress = progress;
    }

    /** @param rows receives each as it comes; keeps what there is if a later one fails */
    void run(List<Setting> settings, List<LogWay> ways, List<ByteSize> sizes, List<Row> rows)
            throws InterruptedException {
        for (var size : sizes) {
            for (var setting : settings) {
                for (var way : ways) {
                    if (way == LogWay.MESSAGE || RecordLog.hasMemory(setting)) {
                        progress.begin(setting + ", " + way + ", " + size);
                        try {
                            rows.add(measure(setting, way, size));
                        } finally {
                            progress.end();
                        }
                    }
                }
            }
        }
    }

    private Row measure(Setting setting, LogWay way, ByteSize size) throws InterruptedException {
        var files = LogFiles.make(directory);
        var broker = new ArrayList<>(List.of("--server", "127.0.0.1:0", "--directory", files.toString()));
        broker.addAll(ofBroker);
        try (var cluster = new LogCluster(setting + " " + way, setting.arguments(), broker)) {
            var one = cluster.run(List.of(produce(way, size, 1, 1, 0))).getFirst();
            progress.at(0.25);
            var busy = cluster.run(List.of(produce(way, size, 1, Load.window(size), 0))).getFirst();
            progress.at(0.5);
            // Alone is alone.
            var many = way == LogWay.EXCLUSIVE ? List.<LogResult>of()
                    : cluster.run(Collections.nCopies(PRODUCERS, produce(way, size, PRODUCERS, Load.window(size), 0)));
            progress.at(0.75);
            var received = cluster.run(List.of(client("--consume", way, size, 2, 1, 0), produce(way, size, 2, 1, PACED)))
                    .getFirst();
            cluster.stop();
            return new Row(setting, way, size, one, busy, many, received);
        } finally {
            LogFiles.delete(files);
        }
    }

    private List<String> produce(LogWay way, ByteSize size, int clients, int inFlight, int rate) {
        return client("--produce", way, size, clients, inFlight, rate);
    }

    private List<String> client(String role, LogWay way, ByteSize size, int clients, int inFlight, int rate) {
        return List.of(role, way.toString(), "--size", Integer.toString(size.bytes()),
                "--seconds", Integer.toString(seconds), "--clients", Integer.toString(clients),
                "--in-flight", Integer.toString(inFlight), "--rate", Integer.toString(rate));
    }

    // ------------------------------------------------------------------------------------------- the table

    static String render(List<Row> rows) {
        var table = new TextTable().left("transport").left("way").right("record").right("produce p50 µs").right("p99 µs")
                .right("MB/s of one").right("MB/s of five").right("to consumer p50 µs").right("p99 µs")
                .right("broker µs/record");
        for (var row : rows) {
            table.row(List.of(row.setting.toString(), row.way.toString(), row.size.toString(),
                    decimals(row.one.p50Nanos() / 1e3), decimals(row.one.p99Nanos() / 1e3),
                    rate(row.busy.megabytesPerSecond()),
                    row.many.isEmpty() ? "–"
                            : rate(row.many.stream().mapToDouble(LogResult::megabytesPerSecond).sum()),
                    decimals(row.received.p50Nanos() / 1e3), decimals(row.received.p99Nanos() / 1e3),
                    decimals(row.busy.brokerMicrosPerRecord())));
        }
        return table.render();
    }

    /** In MB/s: small records, and slow machines, make a few of them. */
    static String rate(double megabytes) {
        return megabytes < FEW ? decimals(megabytes) : whole(megabytes);
    }
}
