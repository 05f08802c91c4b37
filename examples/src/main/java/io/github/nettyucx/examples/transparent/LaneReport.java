// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.transparent;

import io.github.nettyucx.examples.ExampleFailure;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What the agent prints when a process ends.
 *
 * @param rows of its table
 */
record LaneReport(List<Row> rows, String output) {
    private static final Pattern ROW =
            Pattern.compile("(?m)^  (\\S+) +(?:client|server) +\\S+ +\\d+ +\\d+ +(\\d+).*$");

    /**
     * Connections of one lane.
     *
     * @param received in bytes
     */
    record Row(String lane, long received) {
    }

    static LaneReport of(String output) {
        return new LaneReport(ROW.matcher(output).results()
                .map(row -> new Row(row.group(1), Long.parseLong(row.group(2)))).toList(), output);
    }

    Row onlyRow() {
        if (rows.size() != 1) {
            throw new ExampleFailure("expected one connection in the agent's report, and this is what was printed:\n"
                    + output);
        }
        return rows.getFirst();
    }
}
