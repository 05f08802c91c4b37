// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Lane;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** What operations on a peer's memory are to reach over shared memory. */
final class OneSidedTargets {
    private static final int SMALLEST = Long.BYTES;
    private static final int SMALL = 64;
    private static final int LARGE = 64 * 1024;
    private static final double WAY_OF_A_MESSAGE = 1.2;
    private static final double MOST_PUTS = 10_000_000;
    private static final double GET_MICROS = 1;
    private static final double ATOMIC_MICROS = 0.3;
    private static final double OF_LIMIT = 0.9;

    /** What is measured for them. */
    record Measured(Work work, int size, OneSided.Kind kind) {
    }

    private OneSidedTargets() {
    }

    /** All that have a target. */
    static List<Measured> measured() {
        return List.of(new Measured(Work.LATENCY, SMALLEST, OneSided.Kind.PUT_AND_NOTIFY),
                new Measured(Work.LATENCY, SMALLEST, OneSided.Kind.FETCH_AND_ADD),
                new Measured(Work.LATENCY, SMALL, OneSided.Kind.PUT_AND_NOTIFY),
                new Measured(Work.LATENCY, SMALL, OneSided.Kind.GET),
                new Measured(Work.LATENCY, LARGE, OneSided.Kind.PUT_AND_NOTIFY),
                new Measured(Work.THROUGHPUT, SMALL, OneSided.Kind.PUT),
                new Measured(Work.THROUGHPUT, LARGE, OneSided.Kind.PUT));
    }

    /** The targets of those rows that have one, where what they are compared with is among the rows. */
    static List<Target> among(List<Row> rows) {
        var targets = new ArrayList<Target>();
        for (var row : rows) {
            if (row.contender() instanceof OneSided oneSided && oneSided.lanes() == Lane.SHM) {
                target(rows, row, new Measured(row.scenario().work(), row.scenario().size(), oneSided.kind()))
                        .ifPresent(targets::add);
            }
        }
        return targets;
    }

    private static Optional<Target> target(List<Row> rows, Row row, Measured measured) {
        if (!measured().contains(measured)) {
            return Optional.empty();
        }
        var what = measured.kind() + " " + new ByteSize(measured.size()) + ", shm";
        return switch (measured.kind()) {
            // Both there and back.
            case PUT_AND_NOTIFY -> beside(rows, row, other -> other.contender() instanceof NettyContender netty
                    && netty.name().equals("ucx") && netty.lane().equals(row.contender().lane()))
                    .map(message -> new Target(what, row, Metric.P50, message, 1 / WAY_OF_A_MESSAGE));
            case GET -> Optional.of(new Target(what, row, Metric.P50, null, GET_MICROS));
            case FETCH_AND_ADD -> Optional.of(new Target(what, row, Metric.P50, null, ATOMIC_MICROS));
            case PUT -> measured.size() == SMALL ? Optional.of(new Target(what, row, Metric.RATE, null, MOST_PUTS))
                    : beside(rows, row, other -> other.contender() instanceof Perftest limit
                    && limit.lanes() == Lane.SHM && limit.isLimitOf(row.contender(), measured.work()))
                    .map(limit -> new Target(what, row, Metric.BANDWIDTH, limit, OF_LIMIT));
            case REQUEST, COMPARE_AND_SWAP -> Optional.empty();
        };
    }

    private static Optional<Row> beside(List<Row> rows, Row row, Predicate<Row> wanted) {
        return rows.stream().filter(other -> other.scenario().equals(row.scenario())).filter(wanted).findFirst();
    }
}
