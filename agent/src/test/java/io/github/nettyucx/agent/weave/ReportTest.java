// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The table that the agent prints at the end. */
class ReportTest {

    private static final Pattern ROW = Pattern.compile("  (\\S+) +(client|server) +(\\S+) +(\\d+) +(\\d+) +(\\d+)  (.*)");
    private static final Pattern LEFT = Pattern.compile("  left as it was: (.*) \\((\\d+) times\\)");
    private static final int MANY = 20_000;

    private final Report report = new Report();

    private record Row(String lane, String peer, long connections, long sent, long received, String reason) {
    }

    private List<Row> rows() {
        return report.text().lines().map(ROW::matcher).filter(Matcher::matches).map(row -> new Row(row.group(1), row.group(3),
                Long.parseLong(row.group(4)), Long.parseLong(row.group(5)), Long.parseLong(row.group(6)), row.group(7))).toList();
    }

    /** Two bytes were sent, and three received. */
    private void connection(String lane, String peer, String reason) {
        Object channel = new Object();
        report.opened(channel, "io.netty", lane, false, peer, reason, () -> 2, () -> 3);
        report.closed(channel);
    }

    private static void assertSums(long connections, List<Row> rows) {
        assertEquals(connections, rows.stream().mapToLong(Row::connections).sum());
        assertEquals(2 * connections, rows.stream().mapToLong(Row::sent).sum());
        assertEquals(3 * connections, rows.stream().mapToLong(Row::received).sum());
    }

    @Test
    void connectionsOfOneKindAreOneRow() {
        for (int i = 0; i < MANY; i++) {
            connection("sysv", "127.0.0.1:80", "");
        }
        assertEquals(List.of(new Row("sysv", "127.0.0.1:80", MANY, 2 * MANY, 3 * MANY, "")), rows());
    }

    /** A JVM ends as soon as the application is done, with a loop in the middle of a closing. */
    @Test
    void aConnectionThatIsJustClosingIsCounted() throws Exception {
        FutureTask<List<Row>> rows = new FutureTask<>(this::rows);
        Thread reader = new Thread(rows);
        Object channel = new Object();
        report.opened(channel, "io.netty", "sysv", false, "127.0.0.1:80", "", () -> {
            if (reader.getState() == Thread.State.NEW) {
                reader.start();
                while (reader.getState() == Thread.State.RUNNABLE) {
                    Thread.onSpinWait();
                }
            }
            return 2;
        }, () -> 3);
        report.closed(channel);
        assertEquals(List.of(new Row("sysv", "127.0.0.1:80", 1, 2, 3, "")), rows.get(1, TimeUnit.MINUTES));
    }

    @Test
    void moreAndMorePeersHaveOneRowInTheEnd() {
        for (int i = 0; i < MANY; i++) {
            connection("socket", "192.0.2.7:" + i, "the server is an ordinary one");
        }
        connection("socket", "192.0.2.7:0", "the server is an ordinary one");
        List<Row> rows = rows();
        assertEquals(Report.MOST + 1, rows.size());
        assertSums(MANY + 1, rows);
        int others = MANY - Report.MOST;
        assertTrue(rows.contains(new Row("socket", "others", others, 2 * others, 3 * others, "the server is an ordinary one")),
                rows::toString);
        // Who has a row keeps it.
        assertTrue(rows.contains(new Row("socket", "192.0.2.7:0", 2, 4, 6, "the server is an ordinary one")), rows::toString);
    }

    @Test
    void soDoMoreAndMoreReasonsAndEachLaneItsOwn() {
        for (int i = 0; i < MANY; i++) {
            connection("socket", "192.0.2.7:" + i, "the server sees the address " + i);
            connection("sysv", "127.0.0.1:" + i, "");
        }
        List<Row> rows = rows();
        assertTrue(rows.size() <= 2 * Report.MOST + 2, () -> rows.size() + " rows");
        assertSums(2 * MANY, rows);
        for (String lane : new String[] {"socket", "sysv"}) {
            assertSums(MANY, rows.stream().filter(row -> row.lane.equals(lane)).toList());
        }
        assertEquals(1, rows.stream().filter(row -> row.peer.equals("others") && row.reason.equals("various reasons")).count());
        assertEquals(1, rows.stream().filter(row -> row.peer.equals("others") && row.reason.isEmpty()).count());
    }

    /** Classes can be made without an end, and each has a name. */
    @Test
    void soDoesWhatIsLeftAsItWas() {
        for (int i = 0; i < MANY; i++) {
            report.left("channels of the class Made" + i);
        }
        List<Matcher> left = report.text().lines().map(LEFT::matcher).filter(Matcher::matches).toList();
        assertEquals(Report.MOST + 1, left.size());
        assertEquals(MANY, left.stream().mapToLong(line -> Long.parseLong(line.group(2))).sum());
    }
}
