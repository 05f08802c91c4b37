// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A broker that has all records, and that Raft has told nothing yet: without its leader the cluster could choose no other. */
@Tag("cluster")
class NewBrokerTest {
    private static final String TOPIC = "new";
    private static final String RECORD = "a record that is not to be found elsewhere";
    private static final int ADDED = ClusterProcesses.BROKERS - 1;
    /** For so long the leader is asked: it looks at its followers every 200 ms. */
    private static final long MILLIS = 2000;

    private final SplittableRandom random = new SplittableRandom(System.nanoTime());

    @TempDir
    private Path root;

    @Test
    @Timeout(value = 15, unit = TimeUnit.MINUTES)
    void isInSyncWhenItsVoteCounts() throws Exception {
        var cluster = new ClusterProcesses(ADDED, root, random);
        try (cluster; var leader = cluster.connect()) {
            try {
                run(cluster, leader);
            } catch (Exception | AssertionError e) {
                cluster.explain();
                throw e;
            }
        }
    }

    private void run(ClusterProcesses cluster, LeaderConnection leader) throws Exception {
        ClusterProcesses.withLeader(leader, connection -> await(connection.messageProducer(await(
                connection.openTopic(TOPIC, 1))).send(LogFixture.encoded(RECORD.getBytes(StandardCharsets.US_ASCII)))));
        cluster.startApart(ADDED, random);
        awaitRecord(cluster.directory(ADDED).resolve(TOPIC).resolve("0"));
        ClusterProcesses.withLeader(leader, NewBrokerTest::watch);
        cluster.kill(ADDED);
        cluster.start(ADDED);
        ClusterProcesses.withLeader(leader, connection -> cluster.awaitInSync(connection, ClusterProcesses.BROKERS - 1));
        var leading = leader.address();
        cluster.kill(cluster.number(leading));
        ClusterProcesses.withLeader(leader, connection -> await(connection.openTopic(TOPIC, 1)));
        assertNotEquals(leading, leader.address());
    }

    /** That the leader does not count it. */
    private static void watch(LogConnection connection) throws Exception {
        var until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MILLIS);
        var most = 0;
        while (System.nanoTime() < until) {
            most = Math.max(most, await(connection.statistics()).followersInSync());
            // Between two looks: the brokers need the processor.
            Thread.sleep(10);
        }
        assertTrue(most < ClusterProcesses.BROKERS - 1, "Raft has told one of them nothing, and it is counted");
    }

    /** Until one of the files in a directory has it. */
    private static void awaitRecord(Path directory) throws Exception {
        var deadline = System.nanoTime() + ClusterProcesses.PATIENCE.toNanos();
        while (!Files.isDirectory(directory) || !hasRecord(directory)) {
            assertTrue(System.nanoTime() < deadline, "the record does not come");
            // Another process writes it.
            Thread.sleep(10);
        }
    }

    private static boolean hasRecord(Path directory) throws IOException {
        try (var files = Files.newDirectoryStream(directory)) {
            for (var file : files) {
                try {
                    if (Files.readString(file, StandardCharsets.ISO_8859_1).contains(RECORD)) {
                        return true;
                    }
                } catch (NoSuchFileException e) {
                    // It has been renamed meanwhile.
                }
            }
        }
        return false;
    }
}
