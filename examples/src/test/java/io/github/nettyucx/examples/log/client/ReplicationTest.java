// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.awaitRefusal;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.broker.LogBroker;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.netty.util.concurrent.Future;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Followers have what the leader has, and nothing is committed that they do not have. */
@Timeout(120)
class ReplicationTest {
    private static final int SEGMENT = 64 << 10;
    /** Nearly as much as can be sent at once. */
    private static final int LARGE = 1_000_000;

    @TempDir
    private Path root;

    private BrokerSettings settings(String name) {
        return BrokerSettings.in(root.resolve(name)).withSegmentBytes(SEGMENT);
    }

    /** Of a broker that is started again: no connection gets its port meanwhile. */
    private static HostAndPort lastingAddress() {
        return new HostAndPort("127.0.0.1", FreePort.take(new SplittableRandom()));
    }

    private static List<LogRecord> read(HostAndPort broker, LogFixture log) throws Exception {
        try (var connection = LogConnection.open(TransportKind.UCX, broker)) {
            return log.readByMessage(connection, await(connection.openTopic("orders", 1)));
        }
    }

    private BrokerProcess startLeader(HostAndPort follower) throws Exception {
        return BrokerProcess.start("the leader", root.resolve("leader"), "--follower", follower.toString());
    }

    private static void awaitErrors(BrokerProcess broker, String text) throws Exception {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LogFixture.SECONDS);
        while (broker.errors().stream().noneMatch(line -> line.contains(text))) {
            assertTrue(System.nanoTime() < deadline, () -> "it says only: " + broker.errors());
            // Between two looks: another thread reads what it says.
            Thread.sleep(1);
        }
    }

    /** Until then a leader goes on without them. */
    static void awaitInSync(LogConnection leader, int followers) throws Exception {
        // An attempt may wait for a peer for ten seconds, and be made again five seconds later.
        var deadline = System.nanoTime() + ClusterProcesses.PATIENCE.toNanos();
        for (int found; (found = await(leader.statistics()).followersInSync()) != followers;) {
            var now = found;
            assertTrue(System.nanoTime() < deadline, () -> now + " of " + followers + " followers are in sync");
        }
    }

    @Test
    void followersHaveWhatIsCommittedAndCatchUpWhenTheyComeBack() throws Exception {
        var first = LogBroker.start(TransportKind.UCX, lastingAddress(), settings("first"));
        var second = LogBroker.start(TransportKind.UCX, LogFixture.ANY_PORT, settings("second"));
        var addresses = List.of(first.address(), second.address());
        try (var log = new LogFixture(TransportKind.UCX, settings("leader").withFollowers(addresses))) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            awaitInSync(connection, 2);
            var producer = await(connection.memoryProducer(partition, AccessMode.SHARED));
            log.produce(producer, 1, 0, 200, 1000);
            log.assertLog(read(second.address(), log));
            log.assertLog(read(first.address(), log));
            try (var other = LogConnection.open(TransportKind.UCX, second.address())) {
                // The leader has it for itself.
                awaitRefusal(ErrorCode.HELD, other.messageProducer(await(other.openTopic("orders", 1)))
                        .send(encoded(payload(3, 0, 10))));
            }
            first.close();
            log.produce(producer, 1, 200, 400, 1000);
            awaitInSync(connection, 1);
            log.assertLog(read(second.address(), log));
            log.produce(connection.messageProducer(partition), 1, 400, 600, 1000);
            first = LogBroker.start(TransportKind.UCX, addresses.getFirst(), settings("first"));
            awaitInSync(connection, 2);
            log.assertLog(read(first.address(), log));
            log.produce(producer, 1, 600, 800, 1000);
            log.assertLog(read(first.address(), log));
            log.assertLog(read(second.address(), log));
            log.assertLog(log.readByMessage(connection, partition));
            log.assertLog(log.readMemory(connection, partition, 800));
        } finally {
            first.close();
            second.close();
        }
    }

    @Test
    void aFollowerWithOtherRecordsIsLeftAlone() throws Exception {
        try (var follower = new LogFixture(TransportKind.UCX, settings("follower"))) {
            var byFollower = follower.connect();
            var there = await(byFollower.openTopic("orders", 1));
            follower.produce(byFollower.messageProducer(there), 7, 0, 5, 100);
            try (var log = new LogFixture(TransportKind.UCX, settings("leader"))) {
                var connection = log.connect();
                var partition = await(connection.openTopic("orders", 1));
                log.produce(connection.messageProducer(partition), 1, 0, 50, 100);
            }
            try (var leader = startLeader(follower.address())) {
                awaitErrors(leader, "its record 4 is not that of the leader");
                try (var connection = LogConnection.open(TransportKind.UCX, leader.address())) {
                    assertEquals(0, await(connection.statistics()).followersInSync());
                }
                follower.assertLog(follower.readByMessage(byFollower, there));
            }
        }
    }

    /** Its files have more than can be read there, as long as its own followers lack it: that would be sent once more. */
    @Test
    void aFollowerThatWaitsForItsOwnFollowersIsWaitedFor() throws Exception {
        var count = 50;
        var last = LogBroker.start(TransportKind.UCX, LogFixture.ANY_PORT, settings("last"));
        var chained = settings("follower").withFollowers(List.of(last.address())).withMinFollowers(1);
        var address = lastingAddress();
        var follower = LogBroker.start(TransportKind.UCX, address, chained);
        try (var leader = startLeader(address);
                var connection = LogConnection.open(TransportKind.UCX, leader.address())) {
            var producer = connection.messageProducer(await(connection.openTopic("orders", 1)));
            awaitInSync(connection, 1);
            for (var i = 0; i < count; i++) {
                await(producer.send(encoded(payload(1, i, 100))));
            }
            follower.close();
            last.close();
            follower = LogBroker.start(TransportKind.UCX, address, chained);
            awaitErrors(leader, "it waits for its own followers, which do not have its records 0 to " + (count - 1));
            follower.close();
            follower = LogBroker.start(TransportKind.UCX, address, settings("follower"));
            awaitInSync(connection, 1);
            try (var byFollower = LogConnection.open(TransportKind.UCX, address)) {
                assertEquals(count, await(byFollower.messageConsumer(await(byFollower.openTopic("orders", 1)), 0).end()));
            }
        } finally {
            follower.close();
            last.close();
        }
    }

    @Test
    void aFollowerWithShorterSegmentsIsLeftAlone() throws Exception {
        try (var follower = new LogFixture(TransportKind.UCX, settings("follower").withSegmentBytes(SEGMENT / 2));
                var leader = startLeader(follower.address());
                var connection = LogConnection.open(TransportKind.UCX, leader.address())) {
            var partition = await(connection.openTopic("orders", 1));
            awaitErrors(leader, "its segments are too short: it takes " + SEGMENT / 2 + " bytes at once (expected: at least "
                    + SEGMENT + "). Start it with --segment.");
            assertEquals(0, await(connection.statistics()).followersInSync());
            assertEquals(0, await(connection.messageProducer(partition).send(encoded(payload(1, 0, 10)))));
        }
    }

    @Test
    void aLeaderNeedsATransportThatHasMemory() {
        var failure = assertThrows(ExampleFailure.class, () -> LogBroker.start(TransportKind.NIO, LogFixture.ANY_PORT,
                settings("leader").withFollowers(List.of(new HostAndPort("127.0.0.1", 1)))));
        assertTrue(failure.getMessage().startsWith("followers need the ucx transport"), failure.getMessage());
    }

    @Test
    void aFollowerThatIsSilentHoldsNobodyUpForEver() throws Exception {
        try (var follower = BrokerProcess.start("the follower", root.resolve("follower"))) {
            var address = follower.address();
            try (var log = new LogFixture(TransportKind.UCX, settings("leader").withFollowers(List.of(address))
                    .withFollowerPatience(Duration.ofSeconds(3)))) {
                var connection = log.connect();
                var partition = await(connection.openTopic("orders", 1));
                awaitInSync(connection, 1);
                var producer = await(connection.memoryProducer(partition, AccessMode.SHARED));
                log.produce(producer, 1, 0, 50, 1000);
                follower.pause();
                var begin = System.nanoTime();
                log.produce(producer, 1, 50, 200, 1000);
                var millis = (System.nanoTime() - begin) / 1_000_000;
                assertTrue(millis >= 2_900 && millis < 9_500, () -> "gone on without it after " + millis + " ms");
                assertEquals(0, await(connection.statistics()).followersInSync());
                follower.resume();
                awaitInSync(connection, 1);
                log.assertLog(read(address, log));
                log.assertLog(log.readByMessage(connection, partition));
            }
        }
    }

    /** It is not its silence: that would take longer than the test. */
    @Test
    void aFollowerThatLacksTooMuchIsGoneOnWithoutAndComesBack() throws Exception {
        var before = 60;
        var count = 70;
        try (var follower = BrokerProcess.start("the follower", root.resolve("follower"), "--segment", "8m")) {
            var address = follower.address();
            try (var log = new LogFixture(TransportKind.UCX, settings("leader").withSegmentBytes(8 << 20)
                    .withFollowers(List.of(address)).withFollowerPatience(Duration.ofMinutes(10)))) {
                var connection = log.connect();
                var partition = await(connection.openTopic("orders", 1));
                awaitInSync(connection, 1);
                var producer = connection.messageProducer(partition);
                log.produce(producer, 1, 0, 10, 1000);
                follower.pause();
                var sent = new ArrayList<Future<Long>>();
                for (var i = 0; i < before; i++) {
                    sent.add(producer.send(encoded(payload(2, i, LARGE))));
                }
                // None comes, however long one waits: all of it is less than it may lack.
                assertFalse(sent.getFirst().await(500), () -> "it has come to an end: " + sent.getFirst());
                assertEquals(10, log.readByMessage(connection, partition).size());
                for (var i = before; i < count; i++) {
                    sent.add(producer.send(encoded(payload(2, i, LARGE))));
                }
                for (var i = 0; i < count; i++) {
                    log.acknowledged(await(sent.get(i)), payload(2, i, LARGE));
                }
                assertEquals(0, await(connection.statistics()).followersInSync());
                follower.resume();
                awaitInSync(connection, 1);
                log.produce(producer, 1, 10, 20, 1000);
                log.assertLog(read(address, log));
                log.assertLog(log.readByMessage(connection, partition));
                assertEquals(1, await(connection.statistics()).followersInSync());
            }
        }
    }

    @Test
    void nothingIsCommittedThatAFollowerDoesNotHave() throws Exception {
        try (var follower = BrokerProcess.start("the follower", root.resolve("follower"))) {
            var address = follower.address();
            try (var log = new LogFixture(TransportKind.UCX, settings("leader").withFollowers(List.of(address))
                    .withFollowerPatience(Duration.ofSeconds(60)))) {
                var connection = log.connect();
                var partition = await(connection.openTopic("orders", 1));
                awaitInSync(connection, 1);
                var producer = await(connection.memoryProducer(partition, AccessMode.EXCLUSIVE));
                log.produce(producer, 1, 0, 100, 1000);
                log.produce(producer, 1, 100, 110, 1000);
                var consumer = await(connection.memoryConsumer(partition, List.of(110L)));
                assertEquals(List.of(), await(consumer.poll()));
                follower.pause();
                var sent = new ArrayList<Future<Long>>();
                // More than a segment: the next one begins meanwhile.
                for (var i = 0; i < 100; i++) {
                    sent.add(producer.send(encoded(payload(2, i, 1000))));
                }
                // None comes, however long one waits.
                assertFalse(sent.getFirst().await(500), () -> "it has come to an end: " + sent.getFirst());
                assertEquals(110, log.readByMessage(connection, partition).size());
                assertEquals(List.of(), await(consumer.poll()));
                follower.resume();
                for (var i = 0; i < sent.size(); i++) {
                    log.acknowledged(await(sent.get(i)), payload(2, i, 1000));
                }
                log.assertLog(log.readByMessage(connection, partition));
                log.assertLog(read(address, log));
                // It is killed: then it is no member of the set any more.
                follower.kill();
                log.produce(producer, 1, 110, 120, 1000);
                log.assertLog(log.readByMessage(connection, partition));
                log.assertLog(log.readMemory(connection, partition, 220));
                consumer.close();
            }
        }
    }

    @Test
    void withoutTheLeastNumberOfFollowersNothingIsCommitted() throws Exception {
        var address = lastingAddress();
        var follower = LogBroker.start(TransportKind.UCX, address, settings("follower"));
        follower.close();
        try (var log = new LogFixture(TransportKind.UCX,
                settings("leader").withFollowers(List.of(address)).withMinFollowers(1))) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var producer = connection.messageProducer(partition);
            assertWaits(log, connection, partition, producer, 0);
            follower = LogBroker.start(TransportKind.UCX, address, settings("follower"));
            awaitInSync(connection, 1);
            log.produce(producer, 1, 0, 200, 1000);
            assertEquals(201, log.readByMessage(connection, partition).size());
            assertEquals(201, log.readMemory(connection, partition, 201).size());
            follower.close();
            awaitInSync(connection, 0);
            assertWaits(log, connection, partition, producer, 201);

            log.restart();
            connection = log.connect();
            partition = await(connection.openTopic("orders", 1));
            // Of none of its records does it know whether a follower has had it.
            assertWaits(log, connection, partition, connection.messageProducer(partition), 0);
            follower = LogBroker.start(TransportKind.UCX, address, settings("follower"));
            awaitInSync(connection, 1);
            // What has waited is committed in the end.
            var records = log.readMemory(connection, partition, 203);
            assertEquals(203, log.readByMessage(connection, partition).size());
            var copies = read(address, log);
            for (var i = 0; i < 203; i++) {
                assertArrayEquals(records.get(i).payload(), copies.get(i).payload());
            }
        } finally {
            follower.close();
        }
    }

    /** One more record is neither acknowledged nor readable. */
    private static void assertWaits(LogFixture log, LogConnection connection, int partition, Producer producer, int readable)
            throws Exception {
        // It does not come, however long one waits.
        var sent = producer.send(encoded(payload(9, readable, 10)));
        assertFalse(sent.await(500), () -> "it has come to an end: " + sent);
        assertEquals(readable, log.readByMessage(connection, partition).size());
        var consumer = await(connection.memoryConsumer(partition, List.of((long) readable)));
        assertEquals(List.of(), await(consumer.poll()));
        consumer.close();
    }

    @Test
    void whatWasAcknowledgedIsAtTheFollowerWhenTheLeaderIsKilled() throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, settings("follower"))) {
            var byFollower = log.connect();
            try (var leader = startLeader(log.address())) {
                try (var connection = LogConnection.open(TransportKind.UCX, leader.address())) {
                    var partition = await(connection.openTopic("orders", 1));
                    var producer = await(connection.memoryProducer(partition, AccessMode.SHARED));
                    assertEquals(0, await(producer.send(encoded(payload(1, 0, 10)))));
                    awaitInSync(connection, 1);
                    var sent = new ArrayList<Future<Long>>();
                    for (var i = 1; i < 2000; i++) {
                        sent.add(producer.send(encoded(payload(1, i, i % 500))));
                    }
                    await(sent.get(500));
                    leader.kill();
                    var records = new ArrayList<LogRecord>();
                    for (var one : sent) {
                        assertTrue(one.await(LogFixture.SECONDS, TimeUnit.SECONDS));
                    }
                    records.addAll(log.readByMessage(byFollower, await(byFollower.openTopic("orders", 1))));
                    var acknowledged = 0;
                    for (var i = 0; i < sent.size(); i++) {
                        if (sent.get(i).isSuccess()) {
                            acknowledged++;
                            assertArrayEquals(payload(1, i + 1, (i + 1) % 500),
                                    records.get((int) (long) sent.get(i).getNow()).payload());
                        }
                    }
                    assertTrue(acknowledged > 500 && records.size() > acknowledged, records.size() + " records");
                }
            }
        }
    }
}
