// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.EventLoopGroup;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A process with a node is killed, stopped and started again, and connections are cut, at random times, while threads of
 * both nodes send. Each message arrives once and whole, in its thread's order, or its sender is told; each request ends
 * once.
 */
class FaultsTest {

    private static final int THREADS = 3;
    private static final int ROUNDS = Integer.getInteger("io.github.nettyucx.test.kills", Fault.values().length);
    private static final int MAX_MESSAGES = 4_000_000 + 150_000 * ROUNDS;
    private static final int MAX_UNDER_WAY = 64;

    private enum Fault {
        KILL,
        STOP_AND_KILL,
        STOP_AND_CONTINUE,
        CUT_HERE,
        CUT_THERE
    }

    private final long seed = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime());
    @TempDir
    private Path directory;
    private MappedByteBuffer file;
    private Process process;
    private volatile int port;

    private final long[] tickets = new long[MAX_MESSAGES];
    private final byte[] senders = new byte[MAX_MESSAGES];
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final AtomicInteger underWay = new AtomicInteger();
    /** What the listener was told. */
    private final TicketRanges told = new TicketRanges();
    /** Numbers of the child's messages. Of the event loop. */
    private final BitSet received = new BitSet();
    /** The last one that a process before this one can have sent. */
    private volatile int ofProcessesBefore;

    private void start(FaultsMain.Way way) throws Exception {
        file.putInt(FaultsMain.PORT_AT, 0);
        ofProcessesBefore = file.getInt(FaultsMain.SENT_AT);
        process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-Xmx256m",
                "-Dio.github.nettyucx.library=" + System.getProperty("io.github.nettyucx.library", "bundled"),
                "-cp", System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                FaultsMain.class.getName(), way.name(), directory.resolve("arrivals").toString(), "" + file.capacity(),
                "" + port).redirectErrorStream(true).redirectOutput(directory.resolve("output").toFile()).start();
        MessagesTest.await("the process listens", () -> file.getInt(FaultsMain.PORT_AT) != 0 || !process.isAlive());
        if (!process.isAlive() && port != 0
                && Files.readString(directory.resolve("output")).contains("Address already in use")) {
            // Somebody else has been given the port of the one before meanwhile.
            port = 0;
            start(way);
            return;
        }
        assertTrue(process.isAlive(), () -> "the process has ended");
        port = file.getInt(FaultsMain.PORT_AT);
    }

    private void signal(String name) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", "-" + name, "" + process.pid()).start().waitFor());
    }

    @ParameterizedTest
    @EnumSource
    @Timeout(1800)
    void eachMessageArrivesOnceOrItsSenderIsTold(FaultsMain.Way way) throws Exception {
        System.out.println("seed " + seed);
        var random = new Random(seed);
        try (var arrivals = new RandomAccessFile(directory.resolve("arrivals").toFile(), "rw")) {
            int size = FaultsMain.ARRIVALS_AT + Integer.BYTES * MAX_MESSAGES;
            arrivals.setLength(size);
            file = arrivals.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, size);
        }
        start(way);
        EventLoopGroup group = way.group();
        try (Node node = way.builder(1, group).ringCapacity(256 * 1024)
                .reachTimeout(Duration.ofMillis(100 + random.nextInt(3000)))
                .directory(id -> new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .listener(new NodeListener() {
                    @Override
                    public void undelivered(Peer peer, long from, long to, Throwable cause) {
                        synchronized (told) {
                            told.add(from, to);
                        }
                    }
                }).start()) {
            node.onMessage(FaultsMain.MESSAGE, (from, message) -> receive(message));
            Peer peer = node.peer(2);
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                byte own = (byte) t;
                long ownSeed = random.nextLong();
                threads.add(guarded(() -> send(peer, own, new Random(ownSeed))));
            }
            threads.add(guarded(() -> ask(peer)));
            threads.add(guarded(() -> askInCallbacks(peer)));
            List<Fault> faults = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                if (faults.isEmpty()) {
                    faults.addAll(Arrays.asList(Fault.values()));
                    Collections.shuffle(faults, random);
                }
                // Pauses are the fault's own: when it comes, and how long it lasts, is what the seed varies.
                Thread.sleep(200 + random.nextInt(800));
                inflict(faults.removeLast(), way, peer, random);
            }
            // Some messages go to the last one.
            int before = answered.get();
            MessagesTest.await("the last one answers", () -> answered.get() > before || failure.get() != null);
            assertTrue(peer.connections().stream().allMatch(connection -> way.carries(connection.channel())));
            stop.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
            assertNoFailure();
            MessagesTest.await("every ticket is decided", () -> isDecided(peer));
            MessagesTest.await("every request has ended", () -> underWay.get() == 0);
            // A ticket says so before the listener is told, in the same turn of the loop. The other node goes on sending.
            int came = node.timer().submit(received::cardinality).get();
            check(way, node, peer, came);
            assertNoFailure();
        } finally {
            process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
            if (group != null) {
                group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
            }
        }
    }

    private void inflict(Fault fault, FaultsMain.Way way, Peer peer, Random random) throws Exception {
        switch (fault) {
            case KILL -> killAndStartAgain(way, random);
            case STOP_AND_KILL -> {
                signal("STOP");
                // For so long it stands still.
                Thread.sleep(random.nextInt(500));
                killAndStartAgain(way, random);
            }
            case STOP_AND_CONTINUE -> {
                signal("STOP");
                // For so long it stands still.
                Thread.sleep(random.nextInt(500));
                signal("CONT");
            }
            case CUT_HERE -> peer.connections().forEach(connection -> connection.channel().close());
            case CUT_THERE -> {
                process.getOutputStream().write(FaultsMain.CUT);
                process.getOutputStream().flush();
            }
        }
    }

    private void killAndStartAgain(FaultsMain.Way way, Random random) throws Exception {
        process.destroyForcibly().waitFor();
        // For so long there is none.
        Thread.sleep(random.nextInt(1000));
        start(way);
    }

    // ------------------------------------------------------------------------------------------- what threads do

    private Thread guarded(java.util.concurrent.Callable<?> work) {
        return Thread.ofPlatform().start(() -> {
            try {
                work.call();
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        });
    }

    private Void send(Peer peer, byte own, Random random) throws InterruptedException {
        while (!stop.get()) {
            int number = next.getAndIncrement();
            if (number >= MAX_MESSAGES) {
                throw new AssertionError("more than " + MAX_MESSAGES + " messages");
            }
            int length = 1 + (random.nextInt(500) == 0 ? random.nextInt(30_000) : random.nextInt(20));
            tickets[number] = -1;
            senders[number] = own;
            tickets[number] = peer.send(FaultsMain.MESSAGE, FaultsMain.message(number, length));
            if (number % 64 == 0) {
                // The table of tickets is to last for all rounds.
                Thread.sleep(1);
            }
        }
        return null;
    }

    private Void ask(Peer peer) throws InterruptedException {
        for (long i = 0; !stop.get(); i++) {
            long begin = System.nanoTime();
            try {
                assertEquals(i, peer.request(FaultsMain.REQUEST, new long[] {i}, Duration.ofSeconds(2))[0]);
                answered.incrementAndGet();
            } catch (MessagingException e) {
                unanswered.incrementAndGet();
            }
            // Beside the wait for room and for an answer.
            assertTrue(System.nanoTime() - begin < 35_000_000_000L);
            // A request now and then, among the messages.
            Thread.sleep(1);
        }
        return null;
    }

    private Void askInCallbacks(Peer peer) throws InterruptedException {
        for (long i = 0; !stop.get(); i++) {
            if (underWay.incrementAndGet() > MAX_UNDER_WAY) {
                underWay.decrementAndGet();
            } else {
                peer.requestAsync(FaultsMain.REQUEST, new long[] {i}, Duration.ofSeconds(2), new Answer(i));
            }
            // As above.
            Thread.sleep(1);
        }
        return null;
    }

    private final class Answer implements ResponseHandler<long[]> {

        private final long question;
        private final AtomicBoolean ended = new AtomicBoolean();

        private Answer(long question) {
            this.question = question;
        }

        @Override
        public void onResponse(long[] response) {
            end(response[0] == question ? null : new AssertionError(response[0] + " in place of " + question));
            answered.incrementAndGet();
        }

        @Override
        public void onFailure(MessagingException cause) {
            end(null);
            unanswered.incrementAndGet();
        }

        private void end(AssertionError wrong) {
            underWay.decrementAndGet();
            if (ended.getAndSet(true)) {
                failure.compareAndSet(null, new AssertionError("request " + question + " has ended twice"));
            } else if (wrong != null) {
                failure.compareAndSet(null, wrong);
            }
        }
    }

    private void receive(long[] message) {
        if (!FaultsMain.isWhole(message)) {
            failure.compareAndSet(null, new AssertionError("a message is not whole"));
            return;
        }
        int number = (int) message[0];
        if (received.get(number)) {
            failure.compareAndSet(null, new AssertionError("message " + number + " of the other node came twice"));
        } else if (number > ofProcessesBefore && received.length() > number) {
            failure.compareAndSet(null, new AssertionError("message " + number + " of the other node came after "
                    + (received.length() - 1)));
        }
        received.set(number);
    }

    private void assertNoFailure() {
        if (failure.get() != null) {
            throw new AssertionError("seed " + seed, failure.get());
        }
    }

    // ------------------------------------------------------------------------------------------- what has become of it

    private boolean isDecided(Peer peer) {
        int sent = next.get();
        for (int i = 0; i < sent; i++) {
            if (tickets[i] >= 0 && peer.delivery(tickets[i]) == Peer.Delivery.PENDING) {
                return false;
            }
        }
        return true;
    }

    private boolean isTold(long ticket) {
        synchronized (told) {
            return told.contains(ticket);
        }
    }

    private void check(FaultsMain.Way way, Node node, Peer peer, int ofTheOther) {
        assertEquals(0, file.getInt(FaultsMain.DUPLICATES_AT), () -> "messages that came twice, seed " + seed);
        assertEquals(0, file.getInt(FaultsMain.BROKEN_AT), () -> "messages that came broken, seed " + seed);
        int sent = next.get();
        int[] last = new int[THREADS];
        int delivered = 0;
        int undelivered = 0;
        int undeliveredAndThere = 0;
        for (int i = 0; i < sent; i++) {
            int number = i;
            int came = file.getInt(FaultsMain.ARRIVALS_AT + Integer.BYTES * i);
            if (tickets[i] < 0) {
                // Its sender got an exception, before it was sent.
                assertEquals(0, came);
                continue;
            }
            Peer.Delivery delivery = peer.delivery(tickets[i]);
            assertEquals(delivery == Peer.Delivery.UNDELIVERED, isTold(tickets[i]),
                    () -> "the listener and the ticket of message " + number + " say not the same, seed " + seed);
            if (delivery == Peer.Delivery.DELIVERED) {
                assertNotEquals(0, came, () -> "message " + number + " is lost, seed " + seed);
                assertTrue(came > last[senders[i]], () -> "message " + number + " came before an earlier one, seed " + seed);
                last[senders[i]] = came;
                delivered++;
            } else {
                undelivered++;
                undeliveredAndThere += came == 0 ? 0 : 1;
            }
        }
        System.out.println("FAULTS " + way + " seed " + seed + ": " + ROUNDS + " faults, " + sent + " messages, " + delivered
                + " delivered, " + undelivered + " told (of which " + undeliveredAndThere + " had arrived), requests: "
                + answered + " answered, " + unanswered + " failed; of the other node's " + file.getInt(FaultsMain.SENT_AT)
                + " came " + ofTheOther + "; " + node.metrics());
        assertTrue(delivered > 0 && answered.get() > 0 && ofTheOther > 0);
        assertNotEquals(0, node.metrics().connectionsLost());
    }
}
