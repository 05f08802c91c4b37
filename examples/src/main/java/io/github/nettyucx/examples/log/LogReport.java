// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import static io.github.nettyucx.examples.TextTable.decimals;
import static io.github.nettyucx.examples.TextTable.whole;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.TextTable;
import io.github.nettyucx.examples.TransportKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** Puts what was measured next to each other, and next to what is aimed at. */
final class LogReport {
    private static final String NONE = "–";
    private static final double FEW = 10;
    private static final ByteSize PRODUCED = new ByteSize(512);
    private static final ByteSize CONSUMED = new ByteSize(64);
    private static final double LATENCY = 1 / 7.0;
    private static final double GOODPUT = 7;
    private static final double CONSUME_LATENCY = 1 / 20.0;
    /** Of a processor: what a JVM takes that has nothing to do. */
    private static final double IDLE_PERCENT = 0.5;

    private LogReport() {
    }

    /** All tables of which there is something, and the targets. */
    static String render(List<LogRow> rows) {
        var text = new StringBuilder();
        for (var table : LogTable.values()) {
            var ofTable = rows.stream().filter(row -> row.table() == table).toList();
            if (!ofTable.isEmpty()) {
                text.append(text.isEmpty() ? "" : "\n").append(switch (table) {
                    case PRODUCE -> produced(ofTable);
                    case BATCH -> batched(ofTable);
                    case REPLICAS -> replicated(ofTable);
                    case CONSUME -> consumed(ofTable);
                });
            }
        }
        var targets = targets(rows);
        return targets.isEmpty() ? text.toString() : text.append('\n').append(rendered(targets)).toString();
    }

    // ------------------------------------------------------------------------------------------- the tables

    private static String produced(List<LogRow> rows) {
        var table = new TextTable().left("transport").left("way").right("record").right("produce p50 µs").right("p99 µs")
                .right("MB/s of one").right("MB/s of five").right("to consumer p50 µs").right("p99 µs")
                .right("broker µs/record");
        for (var row : rows) {
            table.row(List.of(row.setting().toString(), row.way().toString(), row.size().toString(),
                    micros(row.one().p50Nanos()), micros(row.one().p99Nanos()), rate(row.busy().megabytesPerSecond()),
                    row.many().isEmpty() ? NONE : rate(row.megabytesOfMany()), micros(row.received().p50Nanos()),
                    micros(row.received().p99Nanos()), decimals(row.busy().broker().microsPerRecord())));
        }
        return table.render();
    }

    private static String batched(List<LogRow> rows) {
        var table = new TextTable().left("transport").left("way").right("record").right("sent at once").right("MB/s of one")
                .right("records/s").right("broker µs/record");
        for (var row : rows) {
            table.row(List.of(row.setting().toString(), row.way().toString(), row.size().toString(),
                    Integer.toString(row.batch()), rate(row.busy().megabytesPerSecond()),
                    whole(row.busy().records() * 1e9 / row.busy().nanos()),
                    decimals(row.busy().broker().microsPerRecord())));
        }
        return table.render();
    }

    private static String replicated(List<LogRow> rows) {
        var table = new TextTable().left("transport").left("way").right("record").right("brokers").right("produce p50 µs")
                .right("p99 µs").right("MB/s of one").right("leader µs/record");
        for (var row : rows) {
            table.row(List.of(row.setting().toString(), row.way().toString(), row.size().toString(),
                    Integer.toString(row.replicas()), micros(row.one().p50Nanos()), micros(row.one().p99Nanos()),
                    rate(row.busy().megabytesPerSecond()), decimals(row.busy().broker().microsPerRecord())));
        }
        return table.render();
    }

    private static String consumed(List<LogRow> rows) {
        var table = new TextTable().left("transport").left("way").right("record").right("consume p50 µs").right("p99 µs")
                .right("broker µs/record").right("polls/s of nothing").right("broker % of a processor").right("turns");
        for (var row : rows) {
            var idle = row.one().idle();
            table.row(List.of(row.setting().toString(), row.way() == LogWay.MESSAGE ? "message" : "memory",
                    row.size().toString(), micros(row.one().p50Nanos()), micros(row.one().p99Nanos()),
                    decimals(row.one().broker().microsPerRecord()), whole(idle.polls() * 1e9 / idle.nanos()),
                    decimals(idle.percentOfProcessor()), whole(idle.turns())));
        }
        return table.render();
    }

    private static String micros(long nanos) {
        return decimals(nanos / 1e3);
    }

    /** In MB/s: small records, and slow machines, make a few of them. */
    static String rate(double megabytes) {
        return megabytes < FEW ? decimals(megabytes) : whole(megabytes);
    }

    // ------------------------------------------------------------------------------------------- the targets

    /** @param limit that the figure is to be at most, or, if {@code atLeast}, at least */
    record Target(String name, double limit, boolean atLeast, double measured) {
        boolean isMet() {
            return atLeast ? measured >= limit : measured <= limit;
        }
    }

    /** Those of which both sides were measured. */
    static List<Target> targets(List<LogRow> rows) {
        var targets = new ArrayList<Target>();
        Predicate<LogRow> produced = row -> row.table() == LogTable.PRODUCE && row.size().equals(PRODUCED);
        ratio(rows, produced, row -> row.one().p50Nanos()).ifPresent(found -> targets.add(
                new Target("latency of exclusive produce, 512 B: of message over nio", LATENCY, false, found)));
        ratio(rows, produced, row -> row.busy().megabytesPerSecond()).ifPresent(found -> targets.add(
                new Target("goodput of exclusive produce, 512 B: of message over nio", GOODPUT, true, found)));
        Predicate<LogRow> consumed = row -> row.table() == LogTable.CONSUME && row.size().equals(CONSUMED);
        ratio(rows, consumed, row -> row.one().p50Nanos()).ifPresent(found -> targets.add(
                new Target("latency of consume through memory, 64 B: of message over nio", CONSUME_LATENCY, false, found)));
        rows.stream().filter(row -> row.table() == LogTable.CONSUME && row.way() != LogWay.MESSAGE)
                .mapToDouble(row -> row.one().idle().percentOfProcessor()).max().ifPresent(found -> targets.add(
                        new Target("broker, while a consumer polls memory: % of a processor", IDLE_PERCENT, false, found)));
        return targets;
    }

    /** What one-sided access over ucx is, in terms of messages over nio. */
    private static Optional<Double> ratio(List<LogRow> rows, Predicate<LogRow> which, ToDoubleFunction<LogRow> figure) {
        var ours = rows.stream().filter(which).filter(row -> row.way() == LogWay.EXCLUSIVE).findFirst();
        var theirs = rows.stream().filter(which).filter(row -> row.way() == LogWay.MESSAGE
                && row.setting().transport() == TransportKind.NIO).findFirst();
        return ours.isPresent() && theirs.isPresent()
                ? Optional.of(figure.applyAsDouble(ours.get()) / figure.applyAsDouble(theirs.get())) : Optional.empty();
    }

    private static String rendered(List<Target> targets) {
        var table = new TextTable().left("target").right("expected").right("measured").left("");
        for (var target : targets) {
            table.row(List.of(target.name, (target.atLeast ? "≥ " : "≤ ") + three(target.limit), three(target.measured),
                    target.isMet() ? "met" : "missed"));
        }
        return table.render();
    }

    private static String three(double value) {
        return String.format(Locale.ROOT, "%.3f", value);
    }
}
