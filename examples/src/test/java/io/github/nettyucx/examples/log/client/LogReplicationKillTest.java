// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Followers, and the leader, are killed (SIGKILL) while records are produced, and started again. Whatever was acknowledged
 * is at all of them in the end, and at the followers when the leader is killed.
 */
class LogReplicationKillTest {
    private static final int KILLS = Integer.getInteger("io.github.nettyucx.test.log.kills", 4);
    private static final long SEED = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
    private static final int FOLLOWERS = 2;
    private static final int MAX_PAUSE_MILLIS = 300;
    private static final int SOME = 50;
    private static final int UNDER_WAY = 8;
    private static final long SECONDS = 60;

    /** Produces until it is told to stop, or the leader is gone. */
    private final class Feed {
        private final LogConnection connection;
        private final Producer producer;
        private final int id;
        private final CountDownLatch ended = new CountDownLatch(UNDER_WAY);
        private volatile boolean stopping;
        /** For the event loop only. */
        private int sequence;

        Feed(int id) throws Exception {
            this.id = id;
            connection = LogConnection.open(TransportKind.UCX, leader.address());
            var partition = await(connection.openTopic("kill", 1));
            ReplicationTest.awaitInSync(connection, FOLLOWERS);
            producer = await(connection.memoryProducer(partition, AccessMode.SHARED));
            connection.execute(() -> {
                for (var i = 0; i < UNDER_WAY; i++) {
                    send();
                }
            });
        }

        private void send() {
            if (stopping) {
                ended.countDown();
                return;
            }
            var payload = payload(id, sequence, sequence++ % 300);
            producer.send(encoded(payload)).addListener(sent -> {
                if (sent.isSuccess()) {
                    var before = acknowledged.put((Long) sent.getNow(), payload);
                    if (before != null) {
                        problems.add("offset " + sent.getNow() + " was acknowledged twice");
                    }
                    connection.schedule(this::send, TimeUnit.MILLISECONDS.toNanos(1));
                } else {
                    ended.countDown();
                }
            });
        }

        void awaitSome() throws Exception {
            var wanted = acknowledged.size() + SOME;
            var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (acknowledged.size() < wanted) {
                assertTrue(System.nanoTime() < deadline, "nothing is acknowledged any more");
                assertTrue(ended.getCount() > 0, "the producer has ended");
                // It is the acknowledgements that are waited for; this only leaves them the processor.
                Thread.sleep(1);
            }
        }

        void awaitEnd() throws Exception {
            assertTrue(ended.await(SECONDS, TimeUnit.SECONDS), "the producer does not end");
            connection.close();
        }
    }

    private final SplittableRandom random = new SplittableRandom(SEED);
    /** Payloads by their offsets. */
    private final Map<Long, byte[]> acknowledged = new ConcurrentHashMap<>();
    private final List<String> problems = Collections.synchronizedList(new ArrayList<>());
    private final List<HostAndPort> addresses = new ArrayList<>();
    private final BrokerProcess[] followers = new BrokerProcess[FOLLOWERS];
    private BrokerProcess leader;
    private int lastId;

    @TempDir
    private Path root;

    @Test
    @Timeout(value = 60, unit = TimeUnit.MINUTES)
    void whatWasAcknowledgedIsAtAllThatAreInSync() throws Exception {
        System.out.println("seed " + SEED);
        try {
            for (var i = 0; i < FOLLOWERS; i++) {
                addresses.add(new HostAndPort("127.0.0.1", FreePort.take(random)));
                startFollower(i);
            }
            startLeader();
            var feed = new Feed(++lastId);
            for (var kill = 0; kill < KILLS; kill++) {
                feed.awaitSome();
                // When the kill comes is what is random.
                Thread.sleep(random.nextInt(MAX_PAUSE_MILLIS));
                var victim = kill % 4 == 3 ? FOLLOWERS : random.nextInt(FOLLOWERS);
                System.out.println("kill " + (victim == FOLLOWERS ? "the leader" : "follower " + victim));
                if (victim == FOLLOWERS) {
                    leader.kill();
                    feed.awaitEnd();
                    for (var address : addresses) {
                        verify(read(address));
                    }
                    startLeader();
                    feed = new Feed(++lastId);
                } else {
                    followers[victim].kill();
                    feed.awaitSome();
                    startFollower(victim);
                    ReplicationTest.awaitInSync(feed.connection, FOLLOWERS);
                }
            }
            feed.awaitSome();
            feed.stopping = true;
            feed.awaitEnd();
            verifyAll();
        } finally {
            for (var follower : followers) {
                close(follower);
            }
            close(leader);
        }
        System.out.println(KILLS + " kills, " + acknowledged.size() + " records acknowledged, all of them there");
    }

    private static void close(BrokerProcess process) {
        if (process != null) {
            process.close();
        }
    }

    // ------------------------------------------------------------------------------------------- processes

    private void startFollower(int number) throws Exception {
        followers[number] = BrokerProcess.start("follower" + number, List.of(), addresses.get(number),
                root.resolve("follower" + number));
    }

    private void startLeader() throws Exception {
        leader = BrokerProcess.start("leader", root.resolve("leader"), "--follower",
                addresses.stream().map(HostAndPort::toString).collect(Collectors.joining(",")));
    }

    // ------------------------------------------------------------------------------------------- what there is

    private void verifyAll() throws Exception {
        var all = read(leader.address());
        verify(all);
        for (var address : addresses) {
            var records = read(address);
            verify(records);
            assertEquals(all.size(), records.size());
        }
    }

    private static List<LogRecord> read(HostAndPort broker) throws Exception {
        try (var connection = LogConnection.open(TransportKind.NIO, broker)) {
            var consumer = connection.messageConsumer(await(connection.openTopic("kill", 1)), 0);
            var records = new ArrayList<LogRecord>();
            for (List<LogRecord> some; !(some = await(consumer.poll(0))).isEmpty();) {
                records.addAll(some);
            }
            return records;
        }
    }

    private void verify(List<LogRecord> records) {
        assertEquals(List.of(), problems);
        var last = new HashMap<Integer, Integer>();
        for (var i = 0; i < records.size(); i++) {
            var record = records.get(i);
            assertEquals(i, record.offset());
            var head = ByteBuffer.wrap(record.payload());
            var id = head.getInt();
            var sequence = head.getInt();
            assertArrayEquals(payload(id, sequence, head.getInt()), record.payload());
            // One behind the other, from the first on: none is missing, none is there twice.
            assertEquals(last.getOrDefault(id, -1) + 1, sequence, () -> "of producer " + id);
            last.put(id, sequence);
            var expected = acknowledged.get(record.offset());
            if (expected != null) {
                assertArrayEquals(expected, record.payload(), () -> "record " + record.offset());
            }
        }
        assertEquals(List.of(), acknowledged.keySet().stream().filter(offset -> offset >= records.size()).sorted().toList(),
                "acknowledged, and not there");
    }
}
