// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.TransportKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Whom rows are compared with: the other transports, and what can be done without Netty. */
final class Comparison {
    /** What {@code ucx_perftest} reaches over the same lane. */
    static final String LIMIT = "limit";

    private Comparison() {
    }

    /** The names of those of them that are among the rows. */
    static List<String> references(List<Row> rows) {
        var names = new ArrayList<String>();
        Stream.of(TransportKind.NIO, TransportKind.EPOLL, TransportKind.IO_URING).map(TransportKind::toString)
                .filter(name -> rows.stream().anyMatch(row -> row.contender().name().equals(name)))
                .forEach(names::add);
        if (rows.stream().anyMatch(row -> row.contender() instanceof Perftest)) {
            names.add(LIMIT);
        }
        if (rows.stream().anyMatch(row -> row.contender() instanceof AeronIpc)) {
            names.add(new AeronIpc().name());
        }
        // A table of one contender has nobody to be compared with.
        return rows.stream().map(row -> row.contender().name()).distinct().count() == 1 ? List.of() : names;
    }

    /**
     * How many times better a row is than another in the same scenario: the median of what it was in each round; empty if
     * there is none.
     */
    static Optional<Double> ratio(List<Row> rows, Row row, Metric metric, String reference) {
        return rows.stream()
                .filter(other -> other.scenario().equals(row.scenario()) && other != row
                        && isReference(row, other, reference))
                .findFirst()
                .flatMap(other -> row.ratio(metric, other)).map(Spread::median);
    }

    private static boolean isReference(Row row, Row other, String reference) {
        if (reference.equals(LIMIT)) {
            return other.contender() instanceof Perftest limit && !(row.contender() instanceof Memcpy)
                    && limit.isLimitOf(row.contender(), row.scenario().work())
                    && (row.contender().lane().equals("-") || row.contender().lane().equals(other.contender().lane()));
        }
        // What goes into a peer's memory is no message, and where it is measured the peers' messages may be as well.
        return !(row.contender() instanceof OneSided) && other.contender().name().equals(reference);
    }
}
