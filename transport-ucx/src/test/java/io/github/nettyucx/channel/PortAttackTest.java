// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Whatever arrives at a server's port, its clients are served, and nothing is left of it. */
class PortAttackTest {

    private static final long SEED = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
    private static final int MANY = Integer.getInteger("io.github.nettyucx.test.many", 10_000);
    private static final int FEW = 50;
    /** Open at a time. */
    private static final int WAVE = 2500;
    /**
     * Of those that have to be accepted before they can be told from clients: more would keep real ones waiting for
     * longer than the server lets a request wait.
     */
    private static final int SMALL_WAVE = 500;
    private static final int WARM_UP = 100;
    /** Long enough for the clients that are to be served: they wait in the same queues. */
    private static final int TIMEOUT_MILLIS = 4000;
    private static final int SHORT_TIMEOUT_MILLIS = 1000;
    /** The watch looks four times in a timeout; the rest is for a busy machine. */
    private static final int CLOSED_WITHIN_MILLIS = TIMEOUT_MILLIS + 10_000;
    /** Of the C library's heap. What it grew by in the first wave is not counted. */
    private static final long HEAP_TOLERANCE = 32L * 1024 * 1024;
    /** Beside a summary each minute; what UCX logs goes elsewhere. */
    private static final int LOG_LINES = 2;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private LeakWatch leaks;
    private Peers peers;
    private Channel server;
    private byte[] real;

    private enum Attack {
        /** Connects, and that is all. */
        SILENCE(false),
        RANDOM_BYTES(false),
        HTTP(false),
        ZEROS(false),
        /** Stops in the middle of the envelope, or of the message. */
        STALL(false),
        /** Sends a message that says that it is longer than it is. */
        SHORTENED(false),
        ENVELOPED_JUNK(false),
        DAMAGED(true),
        /** Connects as UCX does, and does not go on. */
        HALF_CONNECTED(true),
        /** Connects twice over the same socket. */
        TWICE(true),
        /** Connects as UCX does, and is gone. */
        RESET(true);

        final boolean looksReal;

        Attack(boolean looksReal) {
            this.looksReal = looksReal;
        }
    }

    @BeforeEach
    void startLoops() throws Exception {
        leaks = new LeakWatch();
        peers = new Peers();
        real = ConnectBytes.capture(peers);
    }

    @AfterEach
    void end() {
        peers.close();
        leaks.assertNothingLeft();
    }

    @Tag("faults")
    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 240)
    void aFewStrangersOfEachKind() throws Exception {
        attack(FEW, SHORT_TIMEOUT_MILLIS);
    }

    @Tag("faults")
    @OnEachLane(timeoutSeconds = 1800)
    void tenThousandStrangersOfEachKind() throws Exception {
        attack(MANY, TIMEOUT_MILLIS);
    }

    private void attack(int connections, int timeoutMillis) throws Exception {
        server = peers.listen(peers.server(Customers.Clerk::new)
                .option(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, timeoutMillis)
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, timeoutMillis)
                .childOption(ChannelOption.ALLOCATOR, leaks.allocator));
        LogCount log = new LogCount();
        long start = System.nanoTime();
        // Pools fill, code is compiled.
        for (Attack attack : Attack.values()) {
            // In the short version those only whose time need not run out.
            if (connections == MANY || attack == Attack.SHORTENED || attack == Attack.ENVELOPED_JUNK
                    || attack == Attack.DAMAGED) {
                wave(attack, WARM_UP);
            }
        }
        awaitDescriptors(Integer.MAX_VALUE);
        int descriptors = openDescriptors();
        long heap = NativeHeap.settled(Long.MIN_VALUE);
        for (Attack attack : attacks()) {
            int wave = Math.min(connections, attack.looksReal ? SMALL_WAVE : WAVE);
            long slowest = 0;
            Customers customers = new Customers(peers, server);
            try (customers) {
                for (int done = 0; done < connections; done += wave) {
                    slowest = Math.max(slowest, wave(attack, wave));
                }
            }
            System.out.println("seed " + SEED + ", " + connections + " × " + attack + ": closed after "
                    + slowest / 1_000_000 + " ms at most; " + customers);
            awaitDescriptors(descriptors);
        }
        long growth = NativeHeap.settled(heap + HEAP_TOLERANCE) - heap;
        System.out.println("growth of the native heap: " + growth + " bytes; log lines: " + log.lines);
        assertTrue(growth <= HEAP_TOLERANCE, () -> "growth of the native heap in bytes: " + growth);
        long minutes = Math.ceilDiv(System.nanoTime() - start, TimeUnit.MINUTES.toNanos(1));
        assertTrue(log.lines.get() <= LOG_LINES + minutes, () -> log.lines + " log lines in " + minutes + " minutes");
        assertEquals(0, leaks.activeBuffers(), "buffers of the channels");
    }

    /** All, or those that {@code -Dio.github.nettyucx.test.attacks} names; {@code .test.many} says how many of each. */
    private static Attack[] attacks() {
        String names = System.getProperty("io.github.nettyucx.test.attacks");
        return names == null ? Attack.values()
                : Arrays.stream(names.split(",")).map(Attack::valueOf).toArray(Attack[]::new);
    }

    /** @return when the server had closed the last one, in nanoseconds since it was opened */
    private long wave(Attack attack, int size) throws Exception {
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        List<Socket> sockets = new ArrayList<>(size);
        long start = System.nanoTime();
        try {
            for (int i = 0; i < size; i++) {
                Socket socket = new Socket(address.getAddress(), address.getPort());
                sockets.add(socket);
                socket.setTcpNoDelay(true);
                say(attack, socket);
            }
            for (Socket socket : sockets) {
                awaitEnd(attack, socket);
            }
            return System.nanoTime() - start;
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    private void say(Attack attack, Socket socket) throws Exception {
        byte[] bytes = switch (attack) {
            case SILENCE -> new byte[0];
            case RANDOM_BYTES -> randomBytes(random.nextInt(1, 3000));
            case HTTP -> "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);
            case ZEROS -> new byte[random.nextInt(1, 64)];
            case STALL -> Arrays.copyOf(real, random.nextInt(1, real.length));
            case SHORTENED -> ConnectBytes.shortened(real, random);
            case ENVELOPED_JUNK -> ConnectBytes.enveloped(randomBytes(random.nextInt(200)));
            case DAMAGED -> ConnectBytes.damaged(real, random);
            case HALF_CONNECTED, TWICE, RESET -> real;
        };
        try {
            socket.getOutputStream().write(bytes);
            if (attack == Attack.TWICE) {
                if (random.nextBoolean()) {
                    // Behind the first one or together with it.
                    Thread.sleep(random.nextInt(5));
                }
                socket.getOutputStream().write(bytes);
            } else if (attack == Attack.RESET) {
                socket.setSoLinger(true, 0);
                socket.close();
            }
        } catch (SocketException e) {
            // Turned away before everything was said.
        }
    }

    private byte[] randomBytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private void awaitEnd(Attack attack, Socket socket) throws IOException {
        if (attack == Attack.RESET) {
            return;
        }
        socket.setSoTimeout(CLOSED_WITHIN_MILLIS);
        try {
            socket.getInputStream().readAllBytes();
        } catch (SocketException e) {
            assertTrue(e.getMessage().contains("reset"), e::toString);
        }
    }

    /** UCX's asynchronous thread closes what is at its end, the loop what its connections had. */
    private static void awaitDescriptors(int expected) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        int open = openDescriptors();
        while (expected == Integer.MAX_VALUE ? deadline - System.nanoTime() > TimeUnit.SECONDS.toNanos(17)
                : open > expected) {
            if (System.nanoTime() - deadline > 0) {
                assertEquals(expected, open, "file descriptors: " + descriptors());
            }
            Thread.sleep(100);
            open = openDescriptors();
        }
    }

    /**
     * But for the timers of UCX's keepalive. A worker makes one with its first endpoint whose peer is to be looked at, which
     * may be a stranger's, and keeps it as long as it lives; so there are no more of them than of workers, each of which has
     * an epoll of its own.
     */
    private static int openDescriptors() throws IOException {
        int timers = 0;
        int epolls = 0;
        int others = 0;
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : open) {
                switch (target(descriptor)) {
                    case "anon_inode:[timerfd]" -> timers++;
                    case "anon_inode:[eventpoll]" -> epolls++;
                    default -> others++;
                }
            }
        }
        assertTrue(timers <= epolls, timers + " timers, of " + epolls + " epolls");
        return epolls + others;
    }

    /** Empty if it has been closed meanwhile. */
    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "";
        }
    }

    /** What they lead to, and the TCP connections of all processes. */
    private static String descriptors() throws IOException {
        StringBuilder text = new StringBuilder();
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : open) {
                if (Files.isSymbolicLink(descriptor)) {
                    text.append(descriptor.getFileName()).append(' ').append(Files.readSymbolicLink(descriptor))
                            .append(", ");
                }
            }
        }
        return text.append(Files.readString(Path.of("/proc/self/net/tcp"))).toString();
    }

    /** Counts warnings and errors. */
    private static final class LogCount extends AppenderBase<ILoggingEvent> {

        final AtomicInteger lines = new AtomicInteger();

        LogCount() {
            Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
            setContext(root.getLoggerContext());
            start();
            root.addAppender(this);
        }

        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
                lines.incrementAndGet();
            }
        }
    }
}
