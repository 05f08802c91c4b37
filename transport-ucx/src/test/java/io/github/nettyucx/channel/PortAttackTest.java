// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.github.nettyucx.worker.WorkerCounter;
import io.netty.channel.EventLoop;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Whoever comes to a server's port, its clients of all lanes are served; and nothing is left of the strangers, who never get
 * as far as UCX. How long clients are held up {@link PortAttackTimeTest} tells.
 */
@OwnJvm
class PortAttackTest {

    private static final long SEED = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
    /** At most; see {@link #withstand}. */
    private static final int FEW = 500;
    /** {@code -Dio.github.nettyucx.test.many} takes another number. */
    private static final int MANY = Integer.getInteger("io.github.nettyucx.test.many", 100_000);
    /** Open at a time. */
    private static final int WAVE = 1000;
    /**
     * By how much the C library's heap may grow with each stranger, and by how much for what the JVM compiles for the
     * first time: the compiler takes some MB while it works, but not in each round.
     */
    private static final long HEAP_PER_STRANGER = 64;
    private static final long HEAP_OF_JVM = 1024 * 1024;
    private static final int HEAP_ROUNDS = 4;
    /** Only as long as too few have left little. */
    private static final int MOST_HEAP_ROUNDS = 8;
    /** One may give back what the compiler took before. */
    private static final int LITTLE_ROUNDS = 2;
    private static final int LOG_LINES = 2;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private LeakWatch leaks;
    private Peers peers;

    @BeforeEach
    void startLoops() {
        System.out.println("seed " + SEED);
        leaks = new LeakWatch();
        peers = new Peers();
    }

    @AfterEach
    void end() {
        peers.close();
        leaks.assertNothingLeft();
    }

    @Tag("faults")
    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 600, lanes = Lane.SHM, environment = ChurnTest.SMALL_COMPILER)
    void aFewStrangersOfEachKind() throws Exception {
        attack(FEW);
    }

    @Tag("faults")
    @OnEachLane(timeoutSeconds = 7200, lanes = Lane.SHM, environment = ChurnTest.SMALL_COMPILER)
    void manyStrangersOfEachKind() throws Exception {
        attack(MANY);
    }

    // ------------------------------------------------------------------------------------------- the attack

    private UcxMetrics metrics() {
        return TestLoops.driver(TestLoops.first(peers.serverGroup)).metrics();
    }

    private void attack(int strangers) throws Exception {
        AttackedPorts ports = AttackedPorts.listen(peers, leaks);
        LogCount log = new LogCount();
        try {
            ports.warmUp(List.of(Stranger.Kind.values()), random);
            withstand(ports, strangers);
            assertTrue(log.lines.get() <= LOG_LINES, () -> log.lines + " warnings");
        } finally {
            log.remove();
        }
        leaks.awaitNoBuffers();
    }

    private void withstand(AttackedPorts ports, int strangers) throws Exception {
        Customers shm = ports.customers(peers, "shm");
        Customers tcp = ports.customers(peers, "tcp");
        Customers socket = ports.customers(peers, "socket");
        try (shm; tcp; socket) {
            assertEquals(List.of(true, true, true), List.of(isOf(Lane.SHM, shm), isOf(Lane.TCP, tcp),
                    isOf(Lane.SOCKET, socket)));
            TestLoops.openTimers(peers.serverGroup, peers.clientGroup);
            int descriptors = settledDescriptors();
            int each = strangers / (HEAP_ROUNDS + 1);
            // Then pools are full and code is compiled, also of what only many bring about.
            come(ports, strangers - HEAP_ROUNDS * each, descriptors, List.of(shm, tcp, socket));
            long most = HEAP_OF_JVM + HEAP_PER_STRANGER * each * Stranger.Kind.chosen().size();
            long heap = NativeHeap.settled(Long.MIN_VALUE);
            List<Long> growths = new ArrayList<>();
            int little = 0;
            // Of a few, the others have nothing more to tell when two rounds have left as little as they may.
            for (int round = 0; little < LITTLE_ROUNDS ? round < MOST_HEAP_ROUNDS : strangers > FEW && round < HEAP_ROUNDS;
                    round++) {
                come(ports, each, descriptors, List.of(shm, tcp, socket));
                long before = heap;
                heap = NativeHeap.settled(before + most);
                growths.add(heap - before);
                little += heap - before <= most ? 1 : 0;
            }
            System.out.println("growth of the native heap in bytes, with " + (long) each * Stranger.Kind.chosen().size()
                    + " strangers in each round: " + growths);
            assertEquals(LITTLE_ROUNDS, Math.min(little, LITTLE_ROUNDS), () -> "rounds that left no more than " + most
                    + " bytes; growth of the native heap in bytes: " + growths);
        }
    }

    private void come(AttackedPorts ports, int strangers, int descriptors, List<Customers> customers) throws Exception {
        // The customers' links are there, and stay: their connections that come and go share them.
        long workers = metrics().worker(WorkerCounter.WORKERS_CREATED);
        long endpoints = metrics().worker(WorkerCounter.ENDPOINTS_OPENED);
        for (Stranger.Kind kind : Stranger.Kind.chosen()) {
            long before = metrics().handshakesFailed();
            long slowest = 0;
            for (int done = 0; done < strangers; done += WAVE) {
                slowest = Math.max(slowest, ports.wave(kind, Math.min(WAVE, strangers - done), random));
                assertNothingMade(workers, endpoints, kind);
            }
            // To get what he says, that one comes twice.
            awaitFailures(before + strangers * (kind == Stranger.Kind.REFLECTED ? 2L : 1L), kind);
            System.out.println("seed " + SEED + ", " + strangers + " × " + kind + ": closed after "
                    + slowest / 1_000_000 + " ms at most; " + customers);
            awaitDescriptors(descriptors);
            assertNothingMade(workers, endpoints, kind);
        }
        awaitChannels(ports);
    }

    /** Not even for a moment. */
    private void assertNothingMade(long workers, long endpoints, Stranger.Kind kind) {
        assertEquals(workers, metrics().worker(WorkerCounter.WORKERS_CREATED), () -> "workers made by the time of " + kind);
        assertEquals(endpoints, metrics().worker(WorkerCounter.ENDPOINTS_OPENED),
                () -> "endpoints made by the time of " + kind);
    }

    private static boolean isOf(Lane lane, Customers customers) {
        return lane.has(((UcxSocketChannel) customers.channel()).lane());
    }

    // ------------------------------------------------------------------------------------------- what is left

    private void awaitFailures(long expected, Stranger.Kind kind) throws Exception {
        Eventually.await(20_000, () -> kind + ": counted " + metrics().handshakesFailed() + " failures, not " + expected,
                () -> metrics().handshakesFailed() >= expected);
        assertEquals(expected, metrics().handshakesFailed(), kind::toString);
    }

    /** Those of the strangers go; the customers', and the two servers, stay. */
    private static void awaitChannels(AttackedPorts ports) throws Exception {
        EventLoop loop = ports.open().eventLoop();
        int most = 2 + 3 * (Customers.STAYING + 1);
        Eventually.await(20_000, () -> "channels are left",
                () -> loop.submit(() -> TestLoops.driver(loop).channelCount()).get() <= most);
    }

    /** The least of some looks: customers come and go. */
    private static int settledDescriptors() throws Exception {
        int least = Integer.MAX_VALUE;
        for (int i = 0; i < 50; i++) {
            least = Math.min(least, OwnProcess.openDescriptors());
            // Nothing tells when what is given back late has been: the least of half a second.
            Thread.sleep(10);
        }
        return least;
    }

    private static void awaitDescriptors(int expected) throws Exception {
        Eventually.await(20_000, () -> "more file descriptors than " + expected + ": " + OwnProcess.descriptors(),
                () -> OwnProcess.openDescriptors() <= expected);
    }

    /** Counts warnings and errors. */
    private static final class LogCount extends AppenderBase<ILoggingEvent> {

        final AtomicInteger lines = new AtomicInteger();
        private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);

        LogCount() {
            setContext(root.getLoggerContext());
            start();
            root.addAppender(this);
        }

        void remove() {
            root.detachAppender(this);
        }

        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
                lines.incrementAndGet();
            }
        }
    }
}
