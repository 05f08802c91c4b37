// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.awaitRefusal;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.broker.LogBroker;
import io.github.nettyucx.examples.log.cluster.ClusterSettings;
import io.github.nettyucx.examples.log.cluster.Node;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.storage.EpochHistory.Entry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A broker of a cluster follows who leads, and nobody else. Its fellows are not there: the tests lead. */
@Timeout(120)
class FollowingTest {
    private static final int SEGMENT = 64 << 10;

    @TempDir
    private Path root;

    private final SplittableRandom random = new SplittableRandom(System.nanoTime());
    private final List<Node> nodes = IntStream.range(0, 3).mapToObj(_ -> new Node(
            new HostAndPort("127.0.0.1", FreePort.take(random)), FreePort.take(random))).toList();
    private final List<LogConnection> connections = new ArrayList<>();
    private LogBroker broker;

    private BrokerSettings settings() {
        return BrokerSettings.in(root.resolve("broker")).withSegmentBytes(SEGMENT);
    }

    private ClusterSettings cluster(String name) {
        return new ClusterSettings(name, nodes.getFirst(), nodes);
    }

    private LogBroker start(BrokerSettings settings) {
        return LogBroker.start(TransportKind.UCX, nodes.getFirst().address(), settings);
    }

    private LogConnection connect() {
        if (broker == null) {
            broker = start(settings().withCluster(cluster("test")));
        }
        connections.add(LogConnection.open(TransportKind.UCX, broker.address()));
        return connections.getLast();
    }

    @AfterEach
    void end() {
        stop();
    }

    private void stop() {
        connections.forEach(LogConnection::close);
        connections.clear();
        if (broker != null) {
            broker.close();
            broker = null;
        }
    }

    /** As the leader of an epoch. @return a producer that has the partition for itself */
    private static Producer lead(LogConnection connection, long epoch, long left, long end, Entry... epochs)
            throws Exception {
        await(connection.follow(epoch, "test"));
        var partition = await(connection.openTopic("orders", 1));
        assertEquals(left, await(connection.adopt(partition, end, List.of(epochs))));
        return await(connection.memoryProducer(partition, AccessMode.EXCLUSIVE));
    }

    private static void awaitClosed(LogConnection connection) {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LogFixture.SECONDS);
        while (connection.isOpen()) {
            assertTrue(System.nanoTime() < deadline, "it is not closed");
            Thread.onSpinWait();
        }
    }

    @Test
    void aLeaderOfAnEarlierEpochIsSentAwayAndWhatOnlyItHadIsCutOff() throws Exception {
        var first = connect();
        var producer = lead(first, 1, 0, 0, new Entry(1, 0));
        for (var i = 0; i < 100; i++) {
            assertEquals(i, await(producer.send(encoded(payload(1, i, 1000)))));
        }
        var second = connect();
        await(second.follow(2, "test"));
        awaitClosed(first);
        assertTrue(producer.send(encoded(payload(1, 100, 10))).await().cause() != null, "the old leader has written");
        assertTrue(awaitRefusal(ErrorCode.FENCED, connect().follow(1, "test")).getMessage()
                .contains("epoch 1 is over: this is 2"));
        // The new leader has 40 of the records, of which it has made none.
        var next = lead(second, 2, 40, 40, new Entry(1, 0), new Entry(2, 40));
        for (var i = 0; i < 60; i++) {
            assertEquals(40 + i, await(next.send(encoded(payload(2, i, 500)))));
        }
        var partition = await(second.openTopic("orders", 1));
        var records = new ArrayList<LogRecord>();
        var consumer = second.messageConsumer(partition, 0);
        for (List<LogRecord> some; !(some = await(consumer.poll(0))).isEmpty();) {
            records.addAll(some);
        }
        assertEquals(100, records.size());
        for (var i = 0; i < 100; i++) {
            assertArrayEquals(i < 40 ? payload(1, i, 1000) : payload(2, i - 40, 500), records.get(i).payload());
        }
        // What it knows of epochs is there after another start.
        stop();
        assertTrue(awaitRefusal(ErrorCode.FENCED, connect().follow(1, "test")).getMessage()
                .contains("epoch 1 is over: this is 2"));
        lead(connect(), 5, 100, 120, new Entry(1, 0), new Entry(2, 40), new Entry(4, 110));
        stop();
        lead(connect(), 6, 70, 90, new Entry(1, 0), new Entry(2, 40), new Entry(3, 70));
        stop();
        lead(connect(), 7, 0, 90, new Entry(7, 0));
    }

    @Test
    void aLeaderThatComesAgainHasThePartitionsAtOnce() throws Exception {
        var first = connect();
        var producer = lead(first, 3, 0, 0, new Entry(3, 0));
        await(producer.send(encoded(payload(1, 0, 10))));
        var again = connect();
        assertEquals(1, await(lead(again, 3, 1, 1, new Entry(3, 0)).send(encoded(payload(1, 1, 10)))));
        awaitClosed(first);
    }

    @Test
    void nobodyElseIsServed() throws Exception {
        var connection = connect();
        assertEquals("", await(connection.findLeader()).address());
        var refusal = awaitRefusal(ErrorCode.NOT_LEADER, connection.openTopic("orders", 1));
        assertTrue(refusal.getMessage().contains("A leader is being chosen"), refusal.getMessage());
        awaitRefusal(ErrorCode.NOT_LEADER, connection.adopt(0, 0, List.of()));
        assertTrue(awaitRefusal(ErrorCode.FENCED, connection.follow(1, "other")).getMessage()
                .contains("is of cluster test, and not of other"));
    }

    @Test
    void epochsThatCannotBeCutNothingOff() throws Exception {
        var connection = connect();
        var producer = lead(connection, 2, 0, 0, new Entry(2, 0));
        await(producer.send(encoded(payload(1, 0, 10))));
        var partition = await(connection.openTopic("orders", 1));
        awaitRefusal(ErrorCode.STORAGE, connection.adopt(partition, 9, List.of(new Entry(2, 5), new Entry(1, 0))));
        awaitRefusal(ErrorCode.STORAGE, connection.adopt(partition, 9, List.of(new Entry(1, 0), new Entry(2, 5))));
        assertEquals(1, await(connection.adopt(partition, 9, List.of(new Entry(2, 0)))));
    }

    @Test
    void aBrokerByItselfFollowsNobody() throws Exception {
        broker = start(settings());
        var connection = connect();
        awaitRefusal(ErrorCode.FENCED, connection.follow(1, "test"));
        var leader = await(connection.findLeader());
        assertEquals(0, leader.epoch());
        assertEquals(broker.address().toString(), leader.address());
        try (var found = new LeaderConnection(TransportKind.UCX, List.of(broker.address()),
                Duration.ofSeconds(LogFixture.SECONDS))) {
            await(found.get().openTopic("orders", 1));
        }
    }

    @Test
    void aDirectoryBelongsToOneBrokerOfOneCluster() throws Exception {
        connect();
        stop();
        assertRefused(settings(), "belongs to cluster test, broker " + nodes.getFirst().id()
                + ". Start it with --cluster and --nodes");
        assertRefused(settings().withCluster(cluster("other")), "(expected: cluster other, broker ");
        connect();
        stop();
        var alone = settings("alone");
        broker = start(alone);
        await(connect().openTopic("orders", 1));
        stop();
        assertRefused(alone.withCluster(cluster("test")), "has a log that is not of a cluster (expected: an empty directory");
    }

    private BrokerSettings settings(String name) {
        return BrokerSettings.in(root.resolve(name));
    }

    private void assertRefused(BrokerSettings settings, String text) {
        var refused = assertThrows(ExampleFailure.class, () -> broker = start(settings));
        assertTrue(refused.getMessage().contains(text), refused.getMessage());
    }

    @Test
    void aLeaderThatIsNotThereIsLookedForNoLongerThanOneSays() {
        connect();
        try (var leader = new LeaderConnection(TransportKind.UCX, List.of(broker.address()), Duration.ofSeconds(5))) {
            var failure = assertThrows(ExampleFailure.class, leader::get);
            assertTrue(failure.getMessage().contains(broker.address() + " knows of no leader"), failure.getMessage());
        }
    }
}
