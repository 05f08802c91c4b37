// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.ChildReports;
import io.github.nettyucx.examples.Console;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TextTable;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.client.LeaderConnection;
import io.github.nettyucx.examples.log.client.LogConnection;
import io.github.nettyucx.examples.log.client.LogRecord;
import io.github.nettyucx.examples.log.client.Producer;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Three brokers on this host choose their leader, which is killed while records are produced, and comes back. */
final class ClusterDemo implements AutoCloseable {
    /** Where the launcher script says that the agent is: Raft's connections go over this transport then. */
    private static final String AGENT_PROPERTY = "io.github.nettyucx.examples.agent";
    private static final int BROKERS = 3;
    private static final int UNDER_WAY = 8;
    private static final int BYTES = 100;
    private static final String TOPIC = "demo";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int FIRST_PORT = 10_000;
    /** Behind it are those that the system gives to connections. */
    private static final int BEHIND_LAST_PORT = 30_000;

    private final Path directory;
    private final List<HostAndPort> addresses = new ArrayList<>();
    private final ChildProcess[] brokers = new ChildProcess[BROKERS];
    private final String nodes;
    /** Numbers of records by their offsets. */
    private final Map<Long, Long> acknowledged = new ConcurrentHashMap<>();
    private final LeaderConnection leader;
    private long begun;
    private final AtomicLong next = new AtomicLong();

    /** @param directory for the brokers' files */
    ClusterDemo(Path directory) {
        this.directory = directory;
        var ports = freePorts(2 * BROKERS);
        nodes = IntStream.range(0, BROKERS).mapToObj(i -> {
            addresses.add(new HostAndPort("127.0.0.1", ports.get(2 * i)));
            return addresses.getLast() + "/" + ports.get(2 * i + 1);
        }).collect(Collectors.joining(","));
        leader = new LeaderConnection(TransportKind.UCX, addresses, PATIENCE);
    }

    /** All of them are held until the last one has been found, so that none comes twice. */
    private static List<Integer> freePorts(int count) {
        var held = new ArrayList<ServerSocket>();
        try {
            while (held.size() < count) {
                var port = ThreadLocalRandom.current().nextInt(FIRST_PORT, BEHIND_LAST_PORT);
                try {
                    held.add(new ServerSocket(port, 1, InetAddress.getLoopbackAddress()));
                } catch (IOException e) {
                    // Somebody has it: another one.
                }
            }
            return held.stream().map(ServerSocket::getLocalPort).toList();
        } finally {
            for (var each : held) {
                try {
                    each.close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    /** @param seconds for which records are produced before the leader is killed, without it, and when it is back */
    void run(int seconds) throws InterruptedException {
        for (var i = 0; i < BROKERS; i++) {
            start(i);
        }
        for (var broker : brokers) {
            ChildReports.addressOf(broker);
        }
        begun = System.nanoTime();
        produce();
        say("leads in epoch " + leader.epoch());
        watch(seconds);
        var old = addresses.indexOf(leader.address());
        say("is killed");
        brokers[old].close();
        produce();
        say("leads in epoch " + leader.epoch());
        watch(seconds);
        start(old);
        ChildReports.addressOf(brokers[old]);
        Console.print(String.format(Locale.ROOT, "%5.1f s  %s  is back%n", elapsed(), addresses.get(old)));
        watch(seconds);
        verify();
        leader.close();
        for (var broker : brokers) {
            broker.stop();
        }
    }

    private void start(int number) {
        var agent = System.getProperty(AGENT_PROPERTY);
        brokers[number] = ChildProcess.start("broker " + addresses.get(number), List.of(),
                agent == null ? List.of() : List.of("-javaagent:" + agent), RecordLog.class,
                List.of("--server", addresses.get(number).toString(), "--directory",
                        directory.resolve(Integer.toString(number)).toString(), "--cluster", TOPIC, "--nodes", nodes,
                        RecordLog.CHILD_OPTION), ChildReports::isReport);
    }

    private double elapsed() {
        return (System.nanoTime() - begun) / 1e9;
    }

    private void say(String what) {
        Console.print(String.format(Locale.ROOT, "%5.1f s  %s  %s%n", elapsed(), leader.address(), what));
    }

    /** Once in each second. */
    private void watch(int seconds) throws InterruptedException {
        for (var i = 0; i < seconds; i++) {
            Thread.sleep(TimeUnit.SECONDS.toMillis(1));
            var followers = LoadClient.await(leader.get().statistics()).followersInSync();
            say(followers + " followers in sync, " + TextTable.whole(acknowledged.size()) + " records acknowledged");
        }
    }

    /** Records go to the leader, as those before them are acknowledged, until the connection ends. */
    private void produce() throws InterruptedException {
        var deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                produce(leader.get());
                return;
            } catch (ExampleFailure e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
                // It was not known yet that the leader is gone.
                leader.close();
            }
        }
    }

    private void produce(LogConnection connection) throws InterruptedException {
        var partition = LoadClient.await(connection.openTopic(TOPIC, 1));
        var producer = LoadClient.await(connection.memoryProducer(partition, AccessMode.SHARED));
        connection.execute(() -> {
            for (var i = 0; i < UNDER_WAY; i++) {
                send(connection, producer);
            }
        });
    }

    private void send(LogConnection connection, Producer producer) {
        var number = next.getAndIncrement();
        var payload = ByteBuffer.allocate(BYTES).putLong(0, number).array();
        producer.send(Records.encode(PooledByteBufAllocator.DEFAULT, payload)).addListener((Future<Long> sent) -> {
            if (sent.isSuccess()) {
                acknowledged.put(sent.getNow(), number);
                connection.schedule(() -> send(connection, producer), TimeUnit.MILLISECONDS.toNanos(1));
            }
        });
    }

    /** What was acknowledged is where it was. */
    private void verify() throws InterruptedException {
        var expected = Map.copyOf(acknowledged);
        var connection = leader.get();
        var consumer = connection.messageConsumer(LoadClient.await(connection.openTopic(TOPIC, 1)), 0);
        var found = 0;
        // Records keep coming: not to the end.
        for (var end = LoadClient.await(consumer.end()); consumer.offset() < end;) {
            for (LogRecord record : LoadClient.await(consumer.poll(0))) {
                var number = expected.get(record.offset());
                if (number != null && number == ByteBuffer.wrap(record.payload()).getLong()) {
                    found++;
                }
            }
        }
        if (found != expected.size()) {
            throw new ExampleFailure("of " + expected.size() + " records that were acknowledged " + found + " are there");
        }
        say("has all " + TextTable.whole(found) + " records that were acknowledged");
    }

    @Override
    public void close() {
        leader.close();
        for (var broker : brokers) {
            if (broker != null) {
                broker.close();
            }
        }
    }
}
