// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ExampleProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example as a user runs it. */
@Timeout(600)
class RecordLogCommandTest {
    @TempDir
    private Path directory;

    /** The other ways are compared by the tables. */
    @Test
    void comparesWaysIntoTheBrokersMemory() throws Exception {
        var outcome = ExampleProcess.run(RecordLog.class, "--seconds", "1", "--size", "256", "--segment", "1m", "--table",
                "produce", "--way", "exclusive,shared", "--directory", directory.toString()).assertClean();
        var lines = outcome.out().lines().toList();
        assertEquals(4, lines.size(), outcome.out());
        assertRow(lines.get(2), "ucx", "exclusive", 10);
        assertRow(lines.get(3), "ucx", "shared", 10);
        assertNothingIsLeft();
    }

    private void assertNothingIsLeft() throws Exception {
        try (var left = Files.list(directory)) {
            assertEquals(List.of(), left.toList());
        }
    }

    /** Several at a time, several brokers, and consumers; and all of it as JSON. It measures ten rows, so not in every build. */
    @Tag("tables")
    @Test
    void measuresEachTableAndComparesWithTheTargets(@TempDir Path elsewhere) throws Exception {
        var json = elsewhere.resolve("log.json");
        var outcome = ExampleProcess.run(RecordLog.class, "--seconds", "1", "--size", "64", "--table",
                "batch,replicas,consume", "--way", "message,exclusive", "--batch", "4", "--replicas", "1,2", "--directory",
                directory.toString(), "--json", json.toString()).assertClean();
        var tables = outcome.out().split("\n\n");
        assertEquals(4, tables.length, outcome.out());
        var rows = Arrays.stream(tables).map(table -> table.lines().skip(2).map(line -> Arrays.asList(line.split(" {2,}")))
                .toList()).toList();
        assertEquals(List.of(List.of("nio", "message", "32 B", "4"), List.of("ucx", "message", "32 B", "4"),
                List.of("ucx", "exclusive", "32 B", "4")), heads(rows.get(0), 4));
        // Over NIO nobody follows.
        assertEquals(List.of(List.of("nio", "message", "512 B", "1"), List.of("ucx", "message", "512 B", "1"),
                List.of("ucx", "exclusive", "512 B", "1"), List.of("ucx", "message", "512 B", "2"),
                List.of("ucx", "exclusive", "512 B", "2")), heads(rows.get(1), 4));
        assertEquals(List.of(List.of("nio", "message", "64 B"), List.of("ucx", "message", "64 B"),
                List.of("ucx", "memory", "64 B")), heads(rows.get(2), 3));
        assertEquals(List.of(List.of("latency of consume through memory, 64 B: of message over nio", "≤ 0.050"),
                List.of("broker, while a consumer polls memory: % of a processor", "≤ 0.500")), heads(rows.get(3), 2));
        var written = Files.readString(json);
        assertTrue(written.contains("\"table\": \"consume\"") && written.contains("\"atMost\": 0.05"), written);
        assertNothingIsLeft();
    }

    private static List<List<String>> heads(List<List<String>> rows, int columns) {
        return rows.stream().map(row -> row.subList(0, columns)).toList();
    }

    /** Everything is measured, but that five have a partition for themselves. */
    private static void assertRow(String line, String transport, String way, int columns) {
        var cells = Arrays.stream(line.split(" {2,}")).toList();
        assertEquals(columns, cells.size(), line);
        assertEquals(List.of(transport, way, "256 B"), cells.subList(0, 3));
        for (var i = 3; i < columns; i++) {
            if (i == 6 && way.equals("exclusive")) {
                assertEquals("–", cells.get(i));
            } else {
                assertTrue(Double.parseDouble(cells.get(i).replace(",", "")) > 0, line);
            }
        }
    }

    /** Three brokers, of which the leader is killed and comes back. */
    @Tag("cluster")
    @Test
    void demonstratesThatAnotherBrokerLeadsWhenTheLeaderIsKilled() throws Exception {
        // One that gets no processor for two seconds, as on a machine that is busy, is not to be replaced for that.
        var patient = List.of("-Dio.github.nettyucx.examples.electionMillis=3000");
        var outcome = ExampleProcess.withOptions(patient, RecordLog.class, "--demo", "--seconds", "2", "--directory",
                directory.toString()).assertClean();
        // When, who, what.
        var lines = outcome.out().lines().map(line -> Arrays.asList(line.strip().split(" {2,}"))).toList();
        var followers = "\\d followers in sync, [\\d,]+ records acknowledged";
        var patterns = List.of("leads in epoch \\d+", followers, followers, "is killed", "leads in epoch \\d+", followers,
                followers, "is back", followers, followers, "has all [\\d,]+ records that were acknowledged");
        assertEquals(patterns.size(), lines.size(), outcome.out());
        for (var i = 0; i < patterns.size(); i++) {
            assertEquals(3, lines.get(i).size(), outcome.out());
            assertTrue(lines.get(i).get(2).matches(patterns.get(i)), outcome.out());
        }
        var killed = lines.get(3).get(1);
        assertNotEquals(killed, lines.get(4).get(1), outcome.out());
        assertEquals(killed, lines.get(7).get(1), outcome.out());
        assertTrue(number(lines.get(4)) > number(lines.getFirst()), outcome.out());
        assertTrue(number(lines.getLast()) > 0, outcome.out());
        assertNothingIsLeft();
    }

    /** The first in what is said. */
    private static long number(List<String> line) {
        return Long.parseLong(line.get(2).replaceAll("[^\\d ]", "").strip().split(" ")[0]);
    }

    @Test
    void runsBetweenProcessesThatAreStartedByHand() throws Exception {
        for (var lane : List.of("shm", "tcp")) {
            try (var broker = ExampleProcess.start(RecordLog.class, "--server", "127.0.0.1:0", "--lane", lane, "--force",
                    "--directory", directory.resolve(lane).toString())) {
                var address = broker.address();
                var produced = ExampleProcess.run(RecordLog.class, "--connect", address, "--produce", "shared", "--lane",
                        lane, "--seconds", "1", "--in-flight", "16").assertClean();
                assertTrue(produced.out().lines().toList().getLast().startsWith("ucx over " + lane), produced.out());
                try (var consumer = ExampleProcess.start(RecordLog.class, "--connect", address, "--consume", "exclusive",
                        "--lane", lane, "--clients", "2", "--seconds", "1")) {
                    ExampleProcess.run(RecordLog.class, "--connect", address, "--produce", "exclusive", "--lane", lane,
                            "--clients", "2", "--seconds", "1", "--rate", "500").assertClean();
                    var consumed = consumer.outcome().assertClean();
                    assertTrue(consumed.out().contains("exclusive"), consumed.out());
                }
                broker.process().toHandle().destroy();
                assertEquals("", broker.outcome().err());
            }
        }
    }

    @Test
    void saysSoWhenThereIsNoAccessToMemory() throws Exception {
        try (var broker = ExampleProcess.start(RecordLog.class, "--server", "127.0.0.1:0", "--transport", "nio",
                "--directory", directory.toString())) {
            ExampleProcess.run(RecordLog.class, "--connect", broker.address(), "--transport", "nio", "--produce", "shared",
                    "--seconds", "1").assertFailed(1).assertSaid("log: this connection has no access to memory");
            broker.process().toHandle().destroy();
            assertEquals("", broker.outcome().err());
        }
    }

    @Test
    void saysSoWhenTheDirectoryIsInUse() throws Exception {
        try (var broker = ExampleProcess.start(RecordLog.class, "--server", "127.0.0.1:0", "--directory",
                directory.toString())) {
            broker.address();
            ExampleProcess.run(RecordLog.class, "--server", "127.0.0.1:0", "--directory", directory.toString())
                    .assertFailed(1).assertSaid("log: cannot open the log in " + directory + ": " + directory
                            + " belongs to a broker that is running");
        }
    }
}
