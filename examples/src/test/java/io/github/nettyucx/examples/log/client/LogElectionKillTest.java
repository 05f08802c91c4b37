// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.ExampleFailure;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Producers, leaders and followers of three brokers that choose their leader are killed (SIGKILL) while records are produced.
 * Whatever was acknowledged is there after each kill, and at all brokers in the end.
 */
@Tag("cluster")
class LogElectionKillTest {
    private static final int KILLS = Integer.getInteger("io.github.nettyucx.test.log.kills", 2);
    private static final long SEED = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
    private static final int MAX_PAUSE_MILLIS = 300;
    private static final int SOME = 20;
    private static final String TOPIC = "kill";
    private static final List<String> WAYS = List.of("message", "shared", "exclusive");
    private static final String ACKNOWLEDGED = "acknowledged ";

    private enum Victim { PRODUCER, LEADER, FOLLOWER }

    /** A record that was acknowledged. */
    private record Sent(int id, int sequence) { }

    private static final class Running {
        private final int partition;
        private final int id;
        private final ChildProcess process;

        Running(int partition, int id, ChildProcess process) {
            this.partition = partition;
            this.id = id;
            this.process = process;
        }
    }

    private final SplittableRandom random = new SplittableRandom(SEED);
    /** Of each partition, by offsets. */
    private final List<Map<Long, Sent>> acknowledged = List.of(new HashMap<>(), new HashMap<>());
    private ClusterProcesses cluster;
    private LeaderConnection leader;
    /** {@code null} if there is none. */
    private Running producer;
    private int lastId;

    @TempDir
    private Path root;

    @Test
    @Timeout(value = 120, unit = TimeUnit.MINUTES)
    void whatWasAcknowledgedSurvivesEveryKill() throws Exception {
        System.out.println("seed " + SEED);
        cluster = new ClusterProcesses(root, random);
        leader = cluster.connect();
        try {
            var victims = new ArrayList<Victim>();
            for (var kill = 0; kill < KILLS; kill++) {
                if (victims.isEmpty()) {
                    victims.addAll(List.of(Victim.values()));
                    Collections.shuffle(victims, new Random(random.nextLong()));
                }
                round(victims.removeLast());
            }
            ensureRunning();
            killProducer();
            withLeader(connection -> cluster.awaitInSync(connection, ClusterProcesses.BROKERS - 1));
            verify();
            leader.close();
            cluster.stop();
            verifyFiles();
        } catch (Exception | AssertionError e) {
            cluster.explain();
            throw e;
        } finally {
            if (producer != null) {
                producer.process.close();
            }
            leader.close();
            cluster.close();
        }
        var total = acknowledged.stream().mapToInt(Map::size).sum();
        System.out.println(KILLS + " kills, " + total + " records acknowledged, all of them there");
        assertTrue(total > KILLS * SOME, "hardly anything was produced");
    }

    // ------------------------------------------------------------------------------------------- one kill

    private void round(Victim victim) throws Exception {
        ensureRunning();
        withLeader(connection -> cluster.awaitInSync(connection, ClusterProcesses.BROKERS - 1));
        // When the kill comes is what is random.
        Thread.sleep(random.nextInt(MAX_PAUSE_MILLIS));
        var leading = cluster.number(leader.address());
        System.out.println("kill " + victim + (victim == Victim.LEADER ? ", which is broker " + leading : ""));
        switch (victim) {
            case PRODUCER -> killProducer();
            case FOLLOWER -> {
                var follower = (leading + 1 + random.nextInt(2)) % ClusterProcesses.BROKERS;
                cluster.kill(follower);
                ensureRunning();
                cluster.start(follower);
            }
            case LEADER -> {
                cluster.kill(leading);
                drain();
                leader.get();
                verify();
                ensureRunning();
                cluster.start(leading);
            }
        }
        verify();
    }

    private void killProducer() throws Exception {
        producer.process.close();
        drain();
    }

    /** A producer that gets records acknowledged. A leader that was not killed may lose the lead, too, when the machine is busy. */
    private void ensureRunning() throws Exception {
        var deadline = System.nanoTime() + ClusterProcesses.PATIENCE.toNanos();
        while (true) {
            start();
            try {
                awaitSome();
                return;
            } catch (ExampleFailure e) {
                System.out.println(e.getMessage() + "; the brokers say: " + cluster.errors());
                assertTrue(System.nanoTime() < deadline, "no leader stays");
                producer = null;
            }
        }
    }

    private void start() throws Exception {
        if (producer == null) {
            withLeader(connection -> await(connection.openTopic(TOPIC, acknowledged.size())));
            var id = ++lastId;
            var partition = random.nextInt(acknowledged.size());
            var way = WAYS.get(random.nextInt(WAYS.size()));
            producer = new Running(partition, id, ChildProcess.start("producer " + id, KillProducer.class,
                    List.of(leader.address().toString(), "auto", way, Integer.toString(id), Integer.toString(partition)),
                    line -> line.startsWith(ACKNOWLEDGED)));
        }
    }

    private void awaitSome() throws Exception {
        var isMore = true;
        while (isMore) {
            // What is here already may be from before.
            isMore = take(0);
        }
        for (var i = 0; i < SOME; i++) {
            assertTrue(take(ClusterProcesses.PATIENCE.toMillis()), () -> "producer " + producer.id
                    + " gets nothing acknowledged any more; errors: " + producer.process.errors());
        }
    }

    /** @return whether one more was acknowledged */
    private boolean take(long waitMillis) throws Exception {
        var line = producer.process.nextReport(waitMillis);
        if (line == null) {
            return false;
        }
        var numbers = line.substring(ACKNOWLEDGED.length()).split(" ");
        var sent = new Sent(producer.id, Integer.parseInt(numbers[0]));
        var offset = Long.parseLong(numbers[1]);
        var other = acknowledged.get(producer.partition).put(offset, sent);
        assertEquals(null, other, () -> "offset " + offset + " was acknowledged for " + sent + " too");
        return true;
    }

    /** All that the producer has said before it ended. */
    private void drain() throws Exception {
        var deadline = System.nanoTime() + ClusterProcesses.PATIENCE.toNanos();
        try {
            while (System.nanoTime() < deadline) {
                take(1000);
            }
            throw new AssertionError("producer " + producer.id + " has not ended");
        } catch (ExampleFailure e) {
            producer = null;
        }
    }

    // ------------------------------------------------------------------------------------------- what there is

    private void withLeader(ClusterProcesses.Action action) throws Exception {
        ClusterProcesses.withLeader(leader, action);
    }

    private void verify() throws Exception {
        withLeader(this::verify);
    }

    private void verify(LogConnection connection) throws Exception {
        var first = await(connection.openTopic(TOPIC, 2));
        for (var partition = 0; partition < 2; partition++) {
            // What has been acknowledged meanwhile is said already, or will be.
            var known = Map.copyOf(acknowledged.get(partition));
            var records = new ArrayList<byte[]>();
            var consumer = connection.messageConsumer(first + partition, 0);
            for (List<LogRecord> some; !(some = await(consumer.poll(0))).isEmpty();) {
                some.forEach(record -> records.add(record.payload()));
            }
            verify(known, records);
        }
    }

    private void verifyFiles() throws Exception {
        for (var partition = 0; partition < 2; partition++) {
            var first = cluster.files(0, TOPIC, partition);
            verify(acknowledged.get(partition), first);
            for (var i = 1; i < ClusterProcesses.BROKERS; i++) {
                var other = cluster.files(i, TOPIC, partition);
                assertEquals(first.size(), other.size());
                for (var j = 0; j < first.size(); j++) {
                    assertArrayEquals(first.get(j), other.get(j), "record " + j);
                }
            }
        }
    }

    private static void verify(Map<Long, Sent> known, List<byte[]> records) {
        var last = new HashMap<Integer, Integer>();
        Set<Sent> all = new HashSet<>();
        for (var i = 0; i < records.size(); i++) {
            var head = ByteBuffer.wrap(records.get(i));
            var sent = new Sent(head.getInt(), head.getInt());
            assertArrayEquals(LogFixture.payload(sent.id, sent.sequence, head.getInt()), records.get(i), sent.toString());
            // One behind the other, from the first on: none is missing, none is there twice.
            assertEquals(last.getOrDefault(sent.id, -1) + 1, sent.sequence, () -> "of producer " + sent.id);
            last.put(sent.id, sent.sequence);
            all.add(sent);
            var expected = known.get((long) i);
            var offset = i;
            assertTrue(expected == null || expected.equals(sent), () -> "at " + offset + ": " + sent
                    + ", and acknowledged was " + expected);
        }
        assertEquals(List.of(), known.keySet().stream().filter(offset -> offset >= records.size()).sorted().toList(),
                "acknowledged, and not there");
        assertEquals(records.size(), all.size());
    }
}
