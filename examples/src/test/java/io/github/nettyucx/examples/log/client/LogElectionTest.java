// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.awaitRefusal;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.netty.util.concurrent.Future;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three brokers choose their leader, and another one when that is killed or stopped. Each test begins with three that are in
 * sync, and leaves them so; the last one looks at what they have said and written.
 */
@Timeout(600)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("cluster")
class LogElectionTest {
    private static final String TOPIC = "orders";
    private static final String LATE = "late";
    private static final int UNDER_WAY = 8;
    private static final int SOME = 200;
    /** More than a follower's segment: what is behind that cannot be with it. */
    private static final int MANY = 200;
    /** So long a broker that could not begin to lead leaves it to others. */
    private static final Duration SETBACK = Duration.ofSeconds(10);
    private static final String CANNOT_LEAD = "leads no more: its files are not as they have to be";
    /** A row of the agent's table: lane, side, peer, connections, bytes sent. */
    private static final Pattern LANE = Pattern.compile("(?m)^  (\\S+) +(client|server) +(\\S+) +(\\d+) +(\\d+) +(\\d+)");

    @TempDir
    private static Path root;

    /** Payloads by their offsets. */
    private final Map<Long, byte[]> acknowledged = new ConcurrentHashMap<>();
    private ClusterProcesses cluster;
    private LeaderConnection leader;
    private int lastId;

    @BeforeAll
    void start() throws Exception {
        cluster = new ClusterProcesses(root, new SplittableRandom(System.nanoTime()), "--patience", "3");
        leader = cluster.connect();
    }

    /** A test that fails is no reason for the next one to fail. */
    @AfterEach
    void clear() throws Exception {
        for (var i = 0; i < ClusterProcesses.BROKERS; i++) {
            if (cluster.broker(i).isAlive()) {
                cluster.broker(i).resume();
            }
            for (var topic : List.of(TOPIC, LATE)) {
                // A broker has a file of that name, for a moment.
                if (Files.isDirectory(obstacle(i, topic))) {
                    Files.delete(obstacle(i, topic));
                }
            }
        }
    }

    /** Where a directory keeps a broker from writing the file of that name. */
    private Path obstacle(int broker, String topic) {
        return cluster.directory(broker).resolve(topic).resolve("0").resolve("epochs.new");
    }

    @AfterAll
    void end() {
        if (leader != null) {
            leader.close();
        }
        if (cluster != null) {
            cluster.close();
        }
    }

    /** Produces until the connection ends, or it is told to stop. */
    private final class Feed {
        private final LogConnection connection;
        private final Producer producer;
        private final int id = ++lastId;
        private volatile boolean stopping;
        /** For the event loop only. */
        private int sequence;

        Feed(LogConnection connection) throws Exception {
            this.connection = connection;
            producer = await(connection.memoryProducer(await(connection.openTopic(TOPIC, 1)), AccessMode.SHARED));
            connection.execute(() -> {
                for (var i = 0; i < UNDER_WAY; i++) {
                    send();
                }
            });
        }

        private void send() {
            if (stopping) {
                return;
            }
            var payload = payload(id, sequence, sequence++ % 300);
            producer.send(encoded(payload)).addListener(sent -> {
                if (sent.isSuccess()) {
                    acknowledged((Long) sent.getNow(), payload);
                    connection.schedule(this::send, TimeUnit.MILLISECONDS.toNanos(1));
                }
            });
        }

        void awaitSome() throws Exception {
            var wanted = acknowledged.size() + SOME;
            var deadline = System.nanoTime() + ClusterProcesses.PATIENCE.toNanos();
            while (acknowledged.size() < wanted) {
                assertTrue(System.nanoTime() < deadline, "nothing is acknowledged any more");
                assertTrue(connection.isOpen(), "the connection has ended");
                // It is the acknowledgements that are waited for; this only leaves them the processor.
                Thread.sleep(1);
            }
        }
    }

    private void acknowledged(long offset, byte[] payload) {
        var before = acknowledged.put(offset, payload);
        if (before != null) {
            // Found by whoever looks at the log: not both can be there.
            acknowledged.put(-1L, payload);
        }
    }

    /** A leader with two followers that have all there is. Of neither the cluster is about to agree that it leaves. */
    private LogConnection settled() throws Exception {
        ClusterProcesses.withLeader(leader, connection -> {
            await(connection.openTopic(TOPIC, 1));
            cluster.awaitInSync(connection, 2);
        });
        return leader.get();
    }

    /** With whoever leads. That another one does is for the machine to decide. */
    private void onLeader(ClusterProcesses.Action action) throws Exception {
        ClusterProcesses.withLeader(leader, action);
    }

    private void produce(LogConnection connection, int count) throws Exception {
        var producer = await(connection.memoryProducer(await(connection.openTopic(TOPIC, 1)), AccessMode.SHARED));
        var id = ++lastId;
        for (var i = 0; i < count; i++) {
            var payload = payload(id, i, 50);
            acknowledged(await(producer.send(encoded(payload))), payload);
        }
        producer.close();
    }

    /** All that was acknowledged is where it was, and intact; by message and out of memory. */
    private List<LogRecord> verify(LogConnection connection) throws Exception {
        var partition = await(connection.openTopic(TOPIC, 1));
        var records = new ArrayList<LogRecord>();
        var byMessage = connection.messageConsumer(partition, 0);
        for (List<LogRecord> some; !(some = await(byMessage.poll(0))).isEmpty();) {
            records.addAll(some);
        }
        for (var i = 0; i < records.size(); i++) {
            assertEquals(i, records.get(i).offset());
        }
        acknowledged.forEach((offset, payload) -> {
            assertTrue(offset >= 0, "an offset was acknowledged twice");
            assertTrue(offset < records.size(), () -> "record " + offset + " was acknowledged, and there are "
                    + records.size());
            assertArrayEquals(payload, records.get((int) (long) offset).payload(), () -> "record " + offset);
        });
        var consumer = await(connection.memoryConsumer(partition, List.of(0L)));
        var read = new ArrayList<LogRecord>();
        var deadline = System.nanoTime() + ClusterProcesses.PATIENCE.toNanos();
        while (read.size() < records.size()) {
            read.addAll(await(consumer.poll()));
            assertTrue(System.nanoTime() < deadline, () -> read.size() + " of " + records.size());
        }
        consumer.close();
        for (var i = 0; i < records.size(); i++) {
            assertArrayEquals(records.get(i).payload(), read.get(i).payload());
        }
        return records;
    }

    /** Followers of Raft learn a little later than its leader what is committed. */
    private void awaitNamed(LogConnection connection) throws Exception {
        var deadline = System.nanoTime() + ClusterProcesses.PATIENCE.toNanos();
        for (String named; !(named = await(connection.findLeader()).address()).equals(leader.address().toString());) {
            var now = named;
            assertTrue(System.nanoTime() < deadline, () -> "it names '" + now + "', and not " + leader.address());
            // Between two looks: the brokers need the processor.
            Thread.sleep(10);
        }
    }

    /** The cluster counts it from the beginning. It could not have a new topic. */
    @Test
    @Order(0)
    void aFollowerThatDoesNotAnswerIsNotSaidToBeInSync() throws Exception {
        var connection = leader.get();
        var stopped = (cluster.number(leader.address()) + 1) % ClusterProcesses.BROKERS;
        cluster.broker(stopped).pause();
        await(connection.openTopic(TOPIC, 1));
        var found = await(connection.statistics()).followersInSync();
        cluster.broker(stopped).resume();
        assertTrue(found < 2, () -> found + " followers are in sync, and one of two is stopped");
        cluster.awaitInSync(connection, 2);
    }

    @Test
    @Order(1)
    void whoDoesNotLeadNamesTheLeader() throws Exception {
        settled();
        for (var address : cluster.addresses()) {
            try (var connection = LogConnection.open(TransportKind.UCX, address)) {
                awaitNamed(connection);
                if (!address.equals(leader.address())) {
                    var refusal = awaitRefusal(ErrorCode.NOT_LEADER, connection.openTopic(TOPIC, 1));
                    assertTrue(refusal.getMessage().contains("The leader is " + leader.address()), refusal.getMessage());
                    awaitRefusal(ErrorCode.NOT_LEADER, connection.messageProducer(0).send(encoded(payload(0, 0, 1))));
                    awaitRefusal(ErrorCode.NOT_LEADER, connection.messageConsumer(0, 0).poll(0));
                    awaitRefusal(ErrorCode.NOT_LEADER, connection.memoryProducer(0, AccessMode.SHARED));
                    awaitRefusal(ErrorCode.NOT_LEADER, connection.memoryConsumer(0, List.of(0L)));
                }
                // Of an epoch that is over, and of another cluster.
                awaitRefusal(ErrorCode.FENCED, connection.follow(leader.epoch() - 1, "test"));
                awaitRefusal(ErrorCode.FENCED, connection.follow(leader.epoch() + 1, "other"));
            }
        }
    }

    @Test
    @Order(2)
    void whenTheLeaderIsKilledAnotherHasWhatWasAcknowledgedAndTheOldOneIsCutToThat() throws Exception {
        var connection = settled();
        var epoch = leader.epoch();
        var old = cluster.number(leader.address());
        var feed = new Feed(connection);
        feed.awaitSome();
        // Followers that take nothing: then the leader comes to have records that no other has.
        for (var i = 0; i < ClusterProcesses.BROKERS; i++) {
            if (i != old) {
                cluster.broker(i).pause();
            }
        }
        var before = await(connection.statistics()).records();
        var byMessage = connection.messageProducer(await(connection.openTopic(TOPIC, 1)));
        feed.stopping = true;
        var sent = new ArrayList<Future<Long>>();
        for (var i = 0; i < MANY; i++) {
            sent.add(byMessage.send(encoded(payload(1_000, i, 1000))));
        }
        var deadline = System.nanoTime() + ClusterProcesses.PATIENCE.toNanos();
        while (connection.isOpen()) {
            var statistics = connection.statistics();
            assertTrue(statistics.await(LogFixture.SECONDS, TimeUnit.SECONDS));
            // It leads no longer than Raft hears of its followers, and ends the connection then.
            if (statistics.isSuccess() && statistics.getNow().records() >= before + MANY) {
                break;
            }
            assertTrue(System.nanoTime() < deadline, "the leader does not write");
        }
        cluster.kill(old);
        for (var i = 0; i < ClusterProcesses.BROKERS; i++) {
            if (i != old) {
                cluster.broker(i).resume();
            }
        }
        for (var one : sent) {
            assertTrue(one.await(LogFixture.SECONDS, TimeUnit.SECONDS));
            assertFalse(one.isSuccess(), "acknowledged without a follower");
        }

        leader.get();
        assertNotEquals(old, cluster.number(leader.address()));
        assertTrue(leader.epoch() > epoch, leader.epoch() + " after " + epoch);
        onLeader(next -> {
            verify(next);
            produce(next, SOME);
        });
        cluster.start(old);
        cluster.awaitErrors(" are not the leader's, and are cut off", old);
        onLeader(next -> {
            cluster.awaitInSync(next, 2);
            produce(next, SOME);
            verify(next);
        });
    }

    @Test
    @Order(3)
    void aLeaderThatWasStoppedAcknowledgesNothingWhenAnotherWasChosen() throws Exception {
        var connection = settled();
        var epoch = leader.epoch();
        var old = cluster.number(leader.address());
        var partition = await(connection.openTopic(TOPIC, 1));
        var feed = new Feed(connection);
        var byMessage = connection.messageProducer(partition);
        feed.awaitSome();
        cluster.broker(old).pause();
        // It finds these when it goes on.
        var sent = new ArrayList<Future<Long>>();
        for (var i = 0; i < SOME; i++) {
            sent.add(byMessage.send(encoded(payload(2_000, i, 100))));
        }

        List<HostAndPort> others = new ArrayList<>(cluster.addresses());
        others.remove(old);
        try (var second = new LeaderConnection(TransportKind.UCX, others, ClusterProcesses.PATIENCE)) {
            var chosen = second.get();
            assertTrue(second.epoch() > epoch, second.epoch() + " after " + epoch);
            cluster.awaitInSync(chosen, 1);
            produce(chosen, SOME);
            var count = acknowledged.size();
            assertEquals(0, sent.stream().filter(Future::isDone).count());

            cluster.broker(old).resume();
            for (var one : sent) {
                assertTrue(one.await(ClusterProcesses.PATIENCE.toSeconds(), TimeUnit.SECONDS), "nothing came of it");
                assertFalse(one.isSuccess(), () -> "acknowledged as record " + one.getNow() + " of epoch " + epoch);
            }
            ClusterProcesses.withLeader(second, next -> cluster.awaitInSync(next, 2));
            System.out.println(acknowledged.size() - count + " records from before the stop were acknowledged after it");
            ClusterProcesses.withLeader(second, next -> {
                var records = verify(next);
                assertFalse(records.stream().anyMatch(record -> ByteBuffer.wrap(record.payload()).getInt() == 2_000),
                        "a record that came to the old leader is there");
                produce(next, SOME);
            });
            assertFalse(connection.isOpen());
        }
        // The way of a client that has only this connection.
        onLeader(this::verify);
        assertTrue(leader.epoch() > epoch);
    }

    @Test
    @Order(4)
    void nobodyLeadsButWhoHasWhatWasAcknowledged() throws Exception {
        var connection = settled();
        var epoch = leader.epoch();
        var old = cluster.number(leader.address());
        var first = (old + 1) % ClusterProcesses.BROKERS;
        var second = (old + 2) % ClusterProcesses.BROKERS;
        cluster.kill(first);
        cluster.awaitInSync(connection, 1);
        // A member of Raft, and of the log it gets nothing: its segments are too short.
        cluster.start(first, "--segment", "32k");
        cluster.awaitErrors("its segments are too short", old);
        cluster.kill(second);
        cluster.awaitInSync(connection, 0);
        produce(connection, SOME);
        cluster.kill(old);
        // Of Raft these two are the majority, and one of them comes to lead that.
        cluster.start(second);
        cluster.awaitErrors("is not in sync, and passes the leadership on to one of [", first, second);
        for (var number : List.of(first, second)) {
            try (var asked = LogConnection.open(TransportKind.UCX, cluster.address(number))) {
                awaitRefusal(ErrorCode.NOT_LEADER, asked.openTopic(TOPIC, 1));
            }
        }
        cluster.start(old);
        leader.get();
        assertEquals(old, cluster.number(leader.address()));
        assertTrue(leader.epoch() > epoch, leader.epoch() + " after " + epoch);
        onLeader(next -> {
            verify(next);
            cluster.awaitInSync(next, 1);
        });
        cluster.kill(first);
        cluster.start(first);
        onLeader(next -> {
            cluster.awaitInSync(next, 2);
            produce(next, SOME);
            verify(next);
        });
    }

    /** Streams of Raft to brokers that take nothing end when those do. */
    @Test
    @Order(5)
    void aLeaderWhoseFollowersAreStoppedEndsInOrder() throws Exception {
        settled();
        var old = cluster.number(leader.address());
        for (var i = 0; i < ClusterProcesses.BROKERS; i++) {
            if (i != old) {
                cluster.broker(i).pause();
            }
        }
        // That fails if it takes longer than a broker gives those that it waits for.
        cluster.broker(old).stop();
        for (var i = 0; i < ClusterProcesses.BROKERS; i++) {
            if (i != old) {
                cluster.broker(i).resume();
            }
        }
        cluster.start(old);
        verify(settled());
    }

    /** As on a full disk: the file that says with which record the epoch begins cannot be written. */
    @Test
    @Order(6)
    void aBrokerThatCannotBeginToLeadLeavesItToOthers() throws Exception {
        produce(settled(), SOME);
        var epoch = leader.epoch();
        var broken = (cluster.number(leader.address()) + 1) % ClusterProcesses.BROKERS;
        // In the place of a file.
        var obstacle = Files.createDirectory(obstacle(broken, TOPIC));
        var begin = System.nanoTime();
        var before = leader.get();
        cluster.leadRaft(broken);
        cluster.awaitErrors(CANNOT_LEAD, broken);
        while (before.isOpen()) {
            assertTrue(System.nanoTime() - begin < ClusterProcesses.PATIENCE.toNanos(), "the leader before still leads");
            // Its end has to come to this side.
            Thread.sleep(1);
        }
        var connection = leader.get();
        assertNotEquals(broken, cluster.number(leader.address()));
        assertTrue(leader.epoch() > epoch + 1, leader.epoch() + " after " + epoch + ", and that of the broken one");
        produce(connection, SOME);
        // It cannot follow either.
        cluster.awaitInSync(connection, 1);
        produce(connection, SOME);
        verify(connection);
        assertTrue(connection.isOpen(), "the other leader did not stay");
        var attempts = cluster.broker(broken).errors().stream().filter(line -> line.startsWith(CANNOT_LEAD)).count();
        var most = 1 + Duration.ofNanos(System.nanoTime() - begin).dividedBy(SETBACK);
        assertTrue(attempts <= most, () -> attempts + " attempts (expected: at most " + most + "): " + cluster.errors());
        Files.delete(obstacle);
        produce(settled(), SOME);
        verify(connection);
    }

    /** The same for a topic that is new: served in no epoch, nobody could tell its records from those of another leader. */
    @Test
    @Order(7)
    void aNewTopicThatCannotBeLedIsLeftToOthers() throws Exception {
        var connection = settled();
        var broken = cluster.number(leader.address());
        var epoch = leader.epoch();
        var obstacle = Files.createDirectories(obstacle(broken, LATE));
        awaitRefusal(ErrorCode.STORAGE, connection.openTopic(LATE, 1));
        var begin = System.nanoTime();
        while (connection.isOpen()) {
            assertTrue(System.nanoTime() - begin < ClusterProcesses.PATIENCE.toNanos(), "it still leads");
            // Its end has to come to this side.
            Thread.sleep(1);
        }
        Files.delete(obstacle);
        var next = settled();
        assertTrue(leader.epoch() > epoch, leader.epoch() + " after " + epoch);
        var producer = next.messageProducer(await(next.openTopic(LATE, 1)));
        assertEquals(0, await(producer.send(encoded(payload(++lastId, 0, 50)))));
    }

    @Test
    @Order(8)
    void allBrokersHaveTheSameInTheEndAndRaftWentOverThisTransport() throws Exception {
        verify(settled());
        leader.close();
        var carried = 0;
        for (var said : cluster.stop()) {
            var lanes = LANE.matcher(said).results().toList();
            assertTrue(lanes.stream().anyMatch(lane -> !lane.group(1).equals("socket")), said);
            carried += lanes.stream().filter(lane -> !lane.group(1).equals("socket"))
                    .mapToInt(lane -> Integer.parseInt(lane.group(4))).sum();
        }
        // Each of a leader's connections to a follower has two ends.
        assertTrue(carried >= 4, carried + " ends of connections of Raft went over this transport");
        var first = cluster.files(0, TOPIC, 0);
        assertTrue(first.size() >= acknowledged.size());
        for (var i = 1; i < ClusterProcesses.BROKERS; i++) {
            var other = cluster.files(i, TOPIC, 0);
            assertEquals(first.size(), other.size());
            for (var j = 0; j < first.size(); j++) {
                assertArrayEquals(first.get(j), other.get(j), "record " + j);
            }
        }
        acknowledged.forEach((offset, payload) -> assertArrayEquals(payload, first.get((int) (long) offset)));
    }
}
