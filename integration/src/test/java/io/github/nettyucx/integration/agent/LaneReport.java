// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import java.util.List;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * What the agent has printed at the end of a process.
 *
 * @param rows of the table
 */
record LaneReport(List<Row> rows, String output) {

    private static final Pattern ROW = Pattern.compile(
            "(?m)^  (\\S+) +(client|server) +(\\S+) +(\\d+) +(\\d+) +(\\d+) *(.*)$");

    /** Connections that have the same lane for the same reason. */
    record Row(String lane, String side, String peer, int connections, long sent, long received, String reason) {

        boolean isMemory() {
            return lane.equals("sysv") || lane.equals("posix");
        }
    }

    static LaneReport of(String output) {
        return new LaneReport(ROW.matcher(output).results().map(row -> new Row(row.group(1), row.group(2), row.group(3),
                Integer.parseInt(row.group(4)), Long.parseLong(row.group(5)), Long.parseLong(row.group(6)),
                row.group(7))).toList(), output);
    }

    int connections(boolean memory, String side) {
        return rows.stream().filter(row -> row.isMemory() == memory && row.side.equals(side)).mapToInt(Row::connections)
                .sum();
    }

    long bytes(boolean memory) {
        return rows.stream().filter(row -> row.isMemory() == memory).mapToLong(row -> row.sent + row.received).sum();
    }

    /** All of a side's connections went over shared memory, and there were some. */
    LaneReport requireMemory(String side) {
        assertTrue(connections(true, side) > 0 && connections(false, side) == 0, output);
        return this;
    }

    /**
     * A side's connections went over shared memory, for several processes on few processors: one that a server did not
     * answer within its 3 s is an ordinary one, and has to say so.
     */
    LaneReport requireMemoryOrTooLate(String side) {
        assertTrue(connections(true, side) > 0, output);
        assertTrue(rows.stream().filter(row -> row.side.equals("client") && !row.isMemory())
                .allMatch(row -> row.reason.contains("did not answer")), output);
        return this;
    }
}
