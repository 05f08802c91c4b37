// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.TransportKind;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Producers and the broker are killed (SIGKILL) at any point of what they do. What was acknowledged is there, at its offset;
 * nothing is there in part, twice, or out of order. {@code -Dio.github.nettyucx.test.log.kills} says how often.
 */
class LogKillTest {
    private static final int KILLS = Integer.getInteger("io.github.nettyucx.test.log.kills", 4);
    private static final long SEED = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
    /** Then a new log begins, over the other lane: what there is to be read does not grow without end. */
    private static final int KILLS_OF_A_LOG = 2;
    private static final int MAX_PAUSE_MILLIS = 300;
    /** A machine that is busy with other things takes its time to start processes. */
    private static final long SECONDS = 240;
    private static final String ACKNOWLEDGED = "acknowledged ";

    /** What is killed. */
    private enum Victim { PRODUCER, BROKER, BOTH }

    /** How a producer works, and where: all but the second share the first partition. */
    private enum Role {
        FIRST("shared", 0), ALONE("exclusive", 1), SECOND("shared", 0), SENDER("message", 0);

        private final String way;
        private final int partition;

        Role(String way, int partition) {
            this.way = way;
            this.partition = partition;
        }
    }

    private static final class Running {
        private final Role role;
        private final int id;
        private final ChildProcess process;
        private int acknowledged;

        Running(Role role, int id, ChildProcess process) {
            this.role = role;
            this.id = id;
            this.process = process;
        }
    }

    /** A record that was acknowledged. */
    private record Sent(int id, int sequence) { }

    private final SplittableRandom random = new SplittableRandom(SEED);
    /** Of each partition, by offsets. */
    private final List<Map<Long, Sent>> acknowledged = List.of(new HashMap<>(), new HashMap<>());
    private final Map<Role, Running> producers = new HashMap<>();
    private String lane;
    private Path directory;
    private BrokerProcess broker;
    private int lastId;

    @TempDir
    private Path root;

    @Test
    @Timeout(value = 60, unit = TimeUnit.MINUTES)
    void whatWasAcknowledgedSurvivesEveryKill() throws Exception {
        System.out.println("seed " + SEED);
        var total = 0;
        try {
            for (var done = 0; done < KILLS; done++) {
                if (done % KILLS_OF_A_LOG == 0) {
                    begin(done / KILLS_OF_A_LOG);
                }
                var before = count();
                round(Victim.values()[random.nextInt(Victim.values().length)]);
                total += count() - before;
                if (done % KILLS_OF_A_LOG == KILLS_OF_A_LOG - 1 || done == KILLS - 1) {
                    end();
                }
            }
        } finally {
            producers.values().forEach(one -> one.process.close());
            if (broker != null) {
                broker.close();
            }
        }
        System.out.println(KILLS + " kills, " + total + " records acknowledged, all of them there");
        assertTrue(total > KILLS, () -> "hardly anything was produced");
    }

    private int count() {
        return acknowledged.stream().mapToInt(Map::size).sum();
    }

    private void begin(int number) throws Exception {
        lane = number % 2 == 0 ? "shm" : "tcp";
        directory = root.resolve("log" + number);
        acknowledged.forEach(Map::clear);
        startBroker();
    }

    /** The last of them has an orderly end. */
    private void end() throws Exception {
        ensureRunning();
        producers.values().forEach(one -> one.process.close());
        drainAll();
        verify();
        broker.stop();
        broker = null;
    }

    private void startBroker() throws Exception {
        // Producers take the first lane. Who looks what there is takes another.
        var lanes = "-Dio.github.nettyucx.lanes=" + (lane.equals("tcp") ? "tcp,shm,socket" : "shm,socket");
        broker = BrokerProcess.start("the broker", List.of(lanes), LogFixture.ANY_PORT, directory,
                // So that there are many, and memory is used for one after the other.
                "--segment", "16k");
    }

    // ------------------------------------------------------------------------------------------- one kill

    private void round(Victim victim) throws Exception {
        ensureRunning();
        // When the kill comes is what is random.
        Thread.sleep(random.nextInt(MAX_PAUSE_MILLIS));
        if (victim != Victim.BROKER) {
            var role = Role.values()[random.nextInt(Role.values().length)];
            System.out.println("kill " + role);
            var killed = producers.remove(role);
            killed.process.close();
            drain(killed);
            if (victim == Victim.PRODUCER) {
                // The others go on, whatever it has left behind.
                for (var other : producers.values()) {
                    awaitMore(other);
                }
            }
        }
        if (victim != Victim.PRODUCER) {
            System.out.println("kill the broker");
            broker.kill();
            drainAll();
            startBroker();
        }
        verify();
    }

    private void ensureRunning() throws Exception {
        // One after the other: it is not the starting of processes that is tested.
        for (var role : Role.values()) {
            if (!producers.containsKey(role)) {
                var id = ++lastId;
                var process = ChildProcess.start("producer " + id, KillProducer.class, List.of(broker.address().toString(), lane,
                        role.way, Integer.toString(id), Integer.toString(role.partition)),
                        line -> line.startsWith(ACKNOWLEDGED));
                var running = new Running(role, id, process);
                producers.put(role, running);
                awaitMore(running);
            }
        }
    }

    private void awaitMore(Running one) throws Exception {
        var before = one.acknowledged;
        // What is here already may be from before.
        while (take(one, 0)) {
            before = one.acknowledged;
        }
        assertTrue(take(one, TimeUnit.SECONDS.toMillis(SECONDS)), () -> one.role + " " + one.id
                + " gets nothing acknowledged any more; errors: " + one.process.errors());
        assertTrue(one.acknowledged > before);
    }

    /** @return whether one more was acknowledged */
    private boolean take(Running one, long waitMillis) throws Exception {
        var line = one.process.nextReport(waitMillis);
        if (line == null) {
            return false;
        }
        var numbers = line.substring(ACKNOWLEDGED.length()).split(" ");
        var sent = new Sent(one.id, Integer.parseInt(numbers[0]));
        var offset = Long.parseLong(numbers[1]);
        var other = acknowledged.get(one.role.partition).put(offset, sent);
        assertEquals(null, other, () -> "offset " + offset + " was acknowledged for " + sent + " too");
        one.acknowledged++;
        return true;
    }

    /** All that a process has said before it ended. */
    private void drain(Running one) throws Exception {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        try {
            while (System.nanoTime() < deadline) {
                take(one, 1000);
            }
            throw new AssertionError(one.role + " " + one.id + " has not ended");
        } catch (ExampleFailure e) {
            // It has.
        }
    }

    private void drainAll() throws Exception {
        for (var one : producers.values()) {
            drain(one);
        }
        producers.clear();
    }

    // ------------------------------------------------------------------------------------------- what there is

    private void verify() throws Exception {
        try (var connection = LogConnection.open(TransportKind.NIO, broker.address())) {
            var first = await(connection.openTopic("kill", 2));
            for (var partition = 0; partition < 2; partition++) {
                var records = new ArrayList<LogRecord>();
                var consumer = connection.messageConsumer(first + partition, 0);
                for (List<LogRecord> some; !(some = await(consumer.poll(0))).isEmpty();) {
                    records.addAll(some);
                }
                verify(partition, records);
                verifyMemory(first + partition, records);
            }
        }
    }

    private void verify(int partition, List<LogRecord> records) {
        var last = new HashMap<Integer, Integer>();
        Set<Sent> all = new HashSet<>();
        for (var i = 0; i < records.size(); i++) {
            var record = records.get(i);
            assertEquals(i, record.offset());
            var head = ByteBuffer.wrap(record.payload());
            var sent = new Sent(head.getInt(), head.getInt());
            assertArrayEquals(LogFixture.payload(sent.id, sent.sequence, head.getInt()), record.payload(), sent.toString());
            // One behind the other, from the first on: none is missing, none is there twice.
            assertEquals(last.getOrDefault(sent.id, -1) + 1, sent.sequence, () -> "of producer " + sent.id);
            last.put(sent.id, sent.sequence);
            all.add(sent);
            var expected = acknowledged.get(partition).get(record.offset());
            assertTrue(expected == null || expected.equals(sent), () -> "at " + record.offset() + ": " + sent
                    + ", and acknowledged was " + expected);
        }
        var missing = acknowledged.get(partition).entrySet().stream()
                .filter(entry -> entry.getKey() >= records.size()).toList();
        assertEquals(List.of(), missing, "acknowledged, and not there");
        assertEquals(records.size(), all.size());
    }

    /** The same out of the broker's memory, as far as it was there before. */
    private void verifyMemory(int partition, List<LogRecord> expected) throws Exception {
        try (var connection = LogConnection.open(TransportKind.UCX, broker.address())) {
            var consumer = await(connection.memoryConsumer(partition, List.of(0L)));
            var found = new ArrayList<LogRecord>();
            var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (found.size() < expected.size()) {
                found.addAll(await(consumer.poll()));
                assertTrue(System.nanoTime() < deadline, () -> found.size() + " of " + expected.size());
            }
            for (var i = 0; i < expected.size(); i++) {
                assertArrayEquals(expected.get(i).payload(), found.get(i).payload());
            }
            consumer.close();
        }
    }
}
