// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A process with a node is killed, stopped and started again, at random times, while threads send to it. Each message
 * arrives exactly once, or its sender is told; each request ends.
 */
class FaultsTest {

    private static final int THREADS = 3;
    private static final int ROUNDS = Integer.getInteger("io.github.nettyucx.test.kills", 4);
    private static final int MAX_MESSAGES = 4_000_000 + 150_000 * ROUNDS;

    @TempDir
    private Path directory;
    private MappedByteBuffer counts;
    private Process process;
    private volatile int port;

    private void start() throws Exception {
        counts.putInt(FaultsMain.PORT_AT, 0);
        process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-Xmx256m",
                "-Dio.github.nettyucx.library=" + System.getProperty("io.github.nettyucx.library", "bundled"),
                "-cp", System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                FaultsMain.class.getName(), directory.resolve("counts").toString(), "" + counts.capacity(), "" + port)
                .redirectErrorStream(true).redirectOutput(directory.resolve("output").toFile()).start();
        MessagesTest.await("the process listens", () -> counts.getInt(FaultsMain.PORT_AT) != 0 || !process.isAlive());
        assertTrue(process.isAlive(), () -> "the process has ended");
        port = counts.getInt(FaultsMain.PORT_AT);
    }

    private void signal(String name) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", "-" + name, "" + process.pid()).start().waitFor());
    }

    @Test
    @Timeout(1800)
    void eachMessageArrivesOnceOrItsSenderIsTold() throws Exception {
        long seed = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime());
        var random = new Random(seed);
        try (var file = new RandomAccessFile(directory.resolve("counts").toFile(), "rw")) {
            int size = FaultsMain.COUNTS_AT + MAX_MESSAGES;
            file.setLength(size);
            counts = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, size);
        }
        start();
        long[] tickets = new long[MAX_MESSAGES];
        var next = new AtomicInteger();
        var stop = new AtomicBoolean();
        var answered = new AtomicLong();
        var failed = new AtomicLong();
        var failure = new AtomicReference<Throwable>();
        try (Node node = Node.builder(1).ringCapacity(256 * 1024).reachTimeout(Duration.ofMillis(100 + random.nextInt(3000)))
                .directory(id -> new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).start()) {
            Peer peer = node.peer(2);
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                long own = random.nextLong();
                threads.add(Thread.ofPlatform().start(() -> send(peer, new Random(own), tickets, next, stop, failure)));
            }
            threads.add(Thread.ofPlatform().start(() -> ask(peer, stop, answered, failed, failure)));
            for (int round = 0; round < ROUNDS; round++) {
                // Pauses are the fault's own: when it comes, and how long it lasts, is what the seed varies.
                Thread.sleep(200 + random.nextInt(800));
                if (random.nextBoolean()) {
                    signal("STOP");
                    Thread.sleep(random.nextInt(500));
                    if (random.nextBoolean()) {
                        signal("CONT");
                        Thread.sleep(random.nextInt(300));
                    }
                }
                process.destroyForcibly().waitFor();
                Thread.sleep(random.nextInt(1000));
                start();
            }
            // Some messages go to the last one.
            long before = answered.get();
            MessagesTest.await("the last one answers", () -> answered.get() > before);
            stop.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
            assertNull(failure.get());
            int sent = next.get();
            MessagesTest.await("every ticket is decided", () -> {
                for (int i = 0; i < sent; i++) {
                    if (tickets[i] >= 0 && peer.delivery(tickets[i]) == Peer.Delivery.PENDING) {
                        return false;
                    }
                }
                return true;
            });
            int delivered = 0;
            int told = 0;
            int toldAndThere = 0;
            for (int i = 0; i < sent; i++) {
                int came = counts.get(FaultsMain.COUNTS_AT + i);
                assertTrue(came <= 1, i + " came " + came + " times, seed " + seed);
                if (tickets[i] < 0) {
                    // Its sender got an exception, before it was sent.
                    assertEquals(0, came);
                } else if (peer.delivery(tickets[i]) == Peer.Delivery.DELIVERED) {
                    assertEquals(1, came, "message " + i + " is lost, seed " + seed);
                    delivered++;
                } else {
                    told++;
                    toldAndThere += came;
                }
            }
            System.out.println("FAULTS seed " + seed + ": " + ROUNDS + " kills, " + sent + " messages, " + delivered
                    + " delivered, " + told + " told (of which " + toldAndThere + " had arrived), requests: " + answered
                    + " answered, " + failed + " failed; " + node.metrics());
            assertTrue(delivered > 0 && answered.get() > 0);
            assertNotEquals(0, node.metrics().connectionsLost());
        } finally {
            process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
    }

    private static void send(Peer peer, Random random, long[] tickets, AtomicInteger next, AtomicBoolean stop,
                             AtomicReference<Throwable> failure) {
        try {
            while (!stop.get()) {
                int number = next.getAndIncrement();
                if (number >= MAX_MESSAGES) {
                    throw new AssertionError("more than " + MAX_MESSAGES + " messages");
                }
                long[] message = new long[1 + (random.nextInt(500) == 0 ? random.nextInt(30_000) : random.nextInt(20))];
                message[0] = number;
                tickets[number] = -1;
                tickets[number] = peer.send(FaultsMain.MESSAGE, message);
                if (number % 64 == 0) {
                    // The table of tickets is to last for all rounds.
                    Thread.sleep(1);
                }
            }
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        }
    }

    private static void ask(Peer peer, AtomicBoolean stop, AtomicLong answered, AtomicLong failed,
                            AtomicReference<Throwable> failure) {
        try {
            for (long i = 0; !stop.get(); i++) {
                long begin = System.nanoTime();
                try {
                    assertEquals(i, peer.request(FaultsMain.REQUEST, new long[] {i}, Duration.ofSeconds(2))[0]);
                    answered.incrementAndGet();
                } catch (MessagingException e) {
                    failed.incrementAndGet();
                }
                // Beside the wait for room and for an answer.
                assertTrue(System.nanoTime() - begin < 35_000_000_000L);
                // A request now and then, among the messages.
                Thread.sleep(1);
            }
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        }
    }
}
