// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Progress;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TemporaryDirectory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/** Measures each way with a broker of its own. */
final class LogComparison {
    /** What is compared. */
    record Plan(List<LogTable> tables, List<Setting> settings, List<LogWay> ways, List<ByteSize> sizes,
                List<Integer> batches, List<Integer> replicas) { }

    static final int PRODUCERS = 5;
    /** Of the records that are sent several at a time. */
    static final ByteSize BATCHED = new ByteSize(32);
    /** Of those that several brokers have. */
    static final ByteSize REPLICATED = new ByteSize(512);
    private static final int PACED = 1000;
    private static final int WITHOUT_LIMIT = 0;

    private final List<String> ofBroker;
    private final Path directory;
    private final int seconds;
    private final Progress progress;
    private final Consumer<LogRow> rows;

    /**
     * @param directory for the brokers' files; {@code null}: one that is made, and deleted
     * @param ofBroker arguments beside that
     * @param rows receives each as it comes
     */
    LogComparison(Path directory, List<String> ofBroker, int seconds, Progress progress, Consumer<LogRow> rows) {
        this.directory = directory;
        this.ofBroker = ofBroker;
        this.seconds = seconds;
        this.progress = progress;
        this.rows = rows;
    }

    void run(Plan plan) throws InterruptedException {
        for (var table : plan.tables) {
            switch (table) {
                case PRODUCE -> {
                    for (var size : plan.sizes) {
                        each(plan, table, size.toString(), (setting, way) -> produced(setting, way, size));
                    }
                }
                case BATCH -> {
                    for (var batch : plan.batches) {
                        each(plan, table, batch + " at once", (setting, way) -> batched(setting, way, batch));
                    }
                }
                case REPLICAS -> {
                    for (var replicas : plan.replicas) {
                        each(plan, table, replicas + " replicas", (setting, way) -> replicated(setting, way, replicas));
                    }
                }
                case CONSUME -> {
                    for (var size : plan.sizes) {
                        each(plan, table, size.toString(), (setting, way) -> consumed(setting, way, size));
                    }
                }
            }
        }
    }

    @FunctionalInterface
    private interface Measurement {
        LogRow measure(Setting setting, LogWay way) throws InterruptedException;
    }

    private void each(Plan plan, LogTable table, String what, Measurement measurement) throws InterruptedException {
        for (var setting : plan.settings) {
            for (var way : plan.ways) {
                // Consumers through memory are the same, whichever way records have come in.
                var isAgain = table == LogTable.CONSUME && way == LogWay.SHARED && plan.ways.contains(LogWay.EXCLUSIVE);
                if ((way == LogWay.MESSAGE || RecordLog.hasMemory(setting)) && !isAgain) {
                    progress.begin(table + ": " + setting + ", " + way + ", " + what);
                    try {
                        var row = measurement.measure(setting, way);
                        if (row != null) {
                            rows.accept(row);
                        }
                    } finally {
                        progress.end();
                    }
                }
            }
        }
    }

    // ------------------------------------------------------------------------------------------- one row

    private LogRow produced(Setting setting, LogWay way, ByteSize size) throws InterruptedException {
        return with(setting, way, 1, cluster -> {
            var one = cluster.run(List.of(produce(way, size, 1, 1, 1, WITHOUT_LIMIT))).getFirst();
            progress.at(0.25);
            var busy = cluster.run(List.of(produce(way, size, 1, 1, Load.window(size, 1), WITHOUT_LIMIT))).getFirst();
            progress.at(0.5);
            // Alone is alone.
            var many = way == LogWay.EXCLUSIVE ? List.<LogResult>of() : cluster.run(Collections.nCopies(PRODUCERS,
                    produce(way, size, 1, PRODUCERS, Load.window(size, 1), WITHOUT_LIMIT)));
            progress.at(0.75);
            var received = cluster.run(List.of(client("--consume", way, size, "--clients", "2"),
                    produce(way, size, 1, 2, 1, PACED))).getFirst();
            return new LogRow(LogTable.PRODUCE, setting, way, size, 1, 1, one, busy, many, received);
        });
    }

    private LogRow batched(Setting setting, LogWay way, int batch) throws InterruptedException {
        return with(setting, way, 1, cluster -> new LogRow(LogTable.BATCH, setting, way, BATCHED, batch, 1, null,
                cluster.run(List.of(produce(way, BATCHED, batch, 1, Load.window(BATCHED, batch), WITHOUT_LIMIT)))
                        .getFirst(), List.of(), null));
    }

    /** @return {@code null} if that cannot be: followers are written to by one-sided writes */
    private LogRow replicated(Setting setting, LogWay way, int replicas) throws InterruptedException {
        return replicas > 1 && !RecordLog.hasMemory(setting) ? null : with(setting, way, replicas, cluster -> {
            var one = cluster.run(List.of(produce(way, REPLICATED, 1, 1, 1, WITHOUT_LIMIT))).getFirst();
            progress.at(0.5);
            var busy = cluster.run(List.of(produce(way, REPLICATED, 1, 1, Load.window(REPLICATED, 1), WITHOUT_LIMIT)))
                    .getFirst();
            return new LogRow(LogTable.REPLICAS, setting, way, REPLICATED, 1, replicas, one, busy, List.of(), null);
        });
    }

    private LogRow consumed(Setting setting, LogWay way, ByteSize size) throws InterruptedException {
        return with(setting, way, 1, cluster -> new LogRow(LogTable.CONSUME, setting, way, size, 1, 1,
                cluster.run(List.of(client("--fetch", way, size))).getFirst(), null, List.of(), null));
    }

    @FunctionalInterface
    private interface Work {
        LogRow run(LogCluster cluster) throws InterruptedException;
    }

    private LogRow with(Setting setting, LogWay way, int brokers, Work work) throws InterruptedException {
        var files = new ArrayList<TemporaryDirectory>();
        try {
            for (var i = 0; i < brokers; i++) {
                files.add(LogFiles.make(directory));
            }
            try (var cluster = new LogCluster(setting + " " + way, setting.arguments(), ofBroker,
                    files.stream().map(TemporaryDirectory::path).toList(), seconds)) {
                var row = work.run(cluster);
                cluster.stop();
                return row;
            }
        } finally {
            files.forEach(TemporaryDirectory::close);
        }
    }

    private List<String> produce(LogWay way, ByteSize size, int batch, int clients, int inFlight, int rate) {
        return client("--produce", way, size, "--batch", Integer.toString(batch), "--clients", Integer.toString(clients),
                "--in-flight", Integer.toString(inFlight), "--rate", Integer.toString(rate));
    }

    private List<String> client(String role, LogWay way, ByteSize size, String... others) {
        var arguments = new ArrayList<>(List.of(role, way.toString(), "--size", Integer.toString(size.bytes()),
                "--seconds", Integer.toString(seconds)));
        arguments.addAll(List.of(others));
        return arguments;
    }
}
