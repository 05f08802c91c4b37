// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.github.nettyucx.worker.WorkerCounter;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Whoever comes to a server's port, its clients of all lanes are served, about as well as those of Netty's own transport
 * are under the same number of connections; and nothing is left of the strangers, who never get as far as UCX.
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
    private static final int WARM_UP = 50;
    private static final int TIMEOUT_MILLIS = 1000;
    /** The rest is for a busy machine. */
    private static final int CLOSED_WITHIN_MILLIS = TIMEOUT_MILLIS + 15_000;
    private static final int SLOW_MILLIS = 20;
    private static final String LANES = "shm,tcp,socket";
    private static final byte[] SECRET = "sixteen bytes and more".getBytes(StandardCharsets.US_ASCII);
    /** A round trip under attack may take so many times what it takes at Netty's server, and so much more. */
    private static final int TIMES_AS_LONG = 3;
    private static final long AND_MORE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /**
     * By how much the C library's heap may grow with each stranger, and by how much for what the JVM compiles for the
     * first time, in the round in which it grows least: the compiler takes some MB while it works, but not in each.
     */
    private static final long HEAP_PER_STRANGER = 64;
    private static final long HEAP_OF_JVM = 1024 * 1024;
    private static final int HEAP_ROUNDS = 4;
    private static final int LOG_LINES = 2;

    /** Those that are over at once, so that the machine is busy with them all the time. */
    private static final List<Stranger.Kind> TIMED_KINDS = List.of(Stranger.Kind.CLOSED, Stranger.Kind.RANDOM_BYTES,
            Stranger.Kind.VERSION_1, Stranger.Kind.WRONG_GO);
    private static final int ROUNDS = 5;
    private static final int TIMED = 1000;
    private static final int MOST_TIMED = 10 * TIMED;
    private static final int TIMED_WARM_UP = 200;
    private static final int TIMED_WAVE = 50;
    /** From one wave to the next, if the machine keeps up: 2000 connects in a second. */
    private static final long TIMED_WAVE_MILLIS = 25;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private LeakWatch leaks;
    private Peers peers;
    private EventLoopGroup kernelServers;
    private EventLoopGroup kernelClients;

    @BeforeEach
    void startLoops() {
        leaks = new LeakWatch();
        peers = new Peers();
        kernelServers = newKernelLoop();
        kernelClients = newKernelLoop();
    }

    /** Of Netty's epoll transport, or where its library is missing of its portable one. */
    private static EventLoopGroup newKernelLoop() {
        return Epoll.isAvailable() ? new EpollEventLoopGroup(1) : new NioEventLoopGroup(1);
    }

    @AfterEach
    void end() throws InterruptedException {
        peers.close();
        Peers.await(kernelServers.shutdownGracefully(0, 15, TimeUnit.SECONDS));
        Peers.await(kernelClients.shutdownGracefully(0, 15, TimeUnit.SECONDS));
        leaks.assertNothingLeft();
    }

    @Tag("faults")
    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 300, lanes = Lane.SHM)
    void aFewStrangersOfEachKind() throws Exception {
        attack(FEW);
    }

    @Tag("faults")
    @OnEachLane(timeoutSeconds = 7200, lanes = Lane.SHM)
    void manyStrangersOfEachKind() throws Exception {
        attack(MANY);
    }

    // ------------------------------------------------------------------------------------------- the servers

    /** Where the strangers come to: a server, and another one with a secret. */
    private record Ports(Channel open, Channel secret) {

        InetSocketAddress address(Stranger.Kind kind) {
            return (InetSocketAddress) (kind.needsSecret() ? secret : open).localAddress();
        }
    }

    private Ports ucx() throws InterruptedException {
        return new Ports(peers.listen(ucxServer()),
                peers.listen(ucxServer().childOption(UcxChannelOption.SHARED_SECRET, SECRET)));
    }

    private ServerBootstrap ucxServer() {
        return peers.server(Customers.Clerk::new)
                .childOption(UcxChannelOption.LANES, LANES)
                .childOption(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.REFUSE)
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, TIMEOUT_MILLIS)
                .childOption(ChannelOption.ALLOCATOR, leaks.allocator);
    }

    private Customers ucxCustomers(Ports ports, String lane) throws InterruptedException {
        return new Customers(peers.client(new ChannelInboundHandlerAdapter()).option(UcxChannelOption.LANES, lane),
                ports.open);
    }

    private UcxMetrics metrics() {
        return TestLoops.driver(TestLoops.first(peers.serverGroup)).metrics();
    }

    // ------------------------------------------------------------------------------------------- the attack

    private void attack(int strangers) throws Exception {
        Ports ports = ucx();
        LogCount log = new LogCount();
        try {
            warmUp(ports, List.of(Stranger.Kind.values()));
            withstand(ports, strangers);
            assertTrue(log.lines.get() <= LOG_LINES, () -> log.lines + " warnings");
        } finally {
            log.remove();
        }
        leaks.awaitNoBuffers();
    }

    /** Pools fill, code is compiled. */
    private void warmUp(Ports ports, List<Stranger.Kind> kinds) throws Exception {
        for (Stranger.Kind kind : kinds) {
            wave(kind, ports, WARM_UP, CLOSED_WITHIN_MILLIS);
        }
    }

    private void withstand(Ports ports, int strangers) throws Exception {
        Customers shm = ucxCustomers(ports, "shm");
        Customers tcp = ucxCustomers(ports, "tcp");
        Customers socket = ucxCustomers(ports, "socket");
        try (shm; tcp; socket) {
            assertEquals(List.of(true, true, true), List.of(isOf(Lane.SHM, shm), isOf(Lane.TCP, tcp),
                    isOf(Lane.SOCKET, socket)));
            int descriptors = settledDescriptors();
            int each = strangers / (HEAP_ROUNDS + 1);
            // Then pools are full and code is compiled, also of what only many bring about.
            come(ports, strangers - HEAP_ROUNDS * each, descriptors, List.of(shm, tcp, socket));
            long most = HEAP_OF_JVM + HEAP_PER_STRANGER * each * kinds().length;
            long heap = NativeHeap.settled(Long.MIN_VALUE);
            List<Long> growths = new ArrayList<>();
            // Of a few, the others have nothing more to tell when one round has left as little as it may.
            for (int round = 0; round < HEAP_ROUNDS
                    && (strangers > FEW || growths.stream().noneMatch(growth -> growth <= most)); round++) {
                come(ports, each, descriptors, List.of(shm, tcp, socket));
                long before = heap;
                heap = NativeHeap.settled(before + most);
                growths.add(heap - before);
            }
            System.out.println("growth of the native heap in bytes, with " + (long) each * kinds().length
                    + " strangers in each round: " + growths);
            assertTrue(Collections.min(growths) <= most, () -> "growth of the native heap in bytes: " + growths
                    + ", expected in one round at least: <= " + most);
        }
    }

    private void come(Ports ports, int strangers, int descriptors, List<Customers> customers) throws Exception {
        // The customers' links are there, and stay: their connections that come and go share them.
        long workers = metrics().worker(WorkerCounter.WORKERS_CREATED);
        long endpoints = metrics().worker(WorkerCounter.ENDPOINTS_OPENED);
        for (Stranger.Kind kind : kinds()) {
            long before = metrics().handshakesFailed();
            long slowest = 0;
            for (int done = 0; done < strangers; done += WAVE) {
                slowest = Math.max(slowest, wave(kind, ports, Math.min(WAVE, strangers - done), CLOSED_WITHIN_MILLIS));
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

    /** All, or those that {@code -Dio.github.nettyucx.test.attacks} names. */
    private static Stranger.Kind[] kinds() {
        String names = System.getProperty("io.github.nettyucx.test.attacks");
        return names == null ? Stranger.Kind.values()
                : Arrays.stream(names.split(",")).map(Stranger.Kind::valueOf).toArray(Stranger.Kind[]::new);
    }

    /** @return when the server had closed the last one, in nanoseconds since it was opened */
    private long wave(Stranger.Kind kind, Ports ports, int size, int closedWithinMillis) throws Exception {
        List<Stranger> strangers = new ArrayList<>(size);
        long start = System.nanoTime();
        try {
            for (int i = 0; i < size; i++) {
                Stranger stranger = new Stranger(kind, ports.address(kind), random);
                strangers.add(stranger);
                stranger.come();
            }
            if (kind == Stranger.Kind.SLOW) {
                while (System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MILLIS)) {
                    for (Stranger stranger : strangers) {
                        stranger.sayMore();
                    }
                    // That is what they are: a byte now and then.
                    Thread.sleep(SLOW_MILLIS);
                }
            }
            for (Stranger stranger : strangers) {
                stranger.awaitEnd(closedWithinMillis);
            }
            return System.nanoTime() - start;
        } finally {
            for (Stranger stranger : strangers) {
                stranger.close();
            }
        }
    }

    // ------------------------------------------------------------------------------------------- how long it takes

    /**
     * What is measured is the machine's doing as well. So rounds at one server take turns with rounds at the other, and
     * the median of the rounds counts: what disturbs the machine for a while disturbs both, or does not count.
     */
    @Tag("faults")
    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 240, lanes = Lane.SHM)
    void strangersHoldUpClientsNoLongerThanConnectsDoAtNettysServer() throws Exception {
        Ports ports = ucx();
        warmUp(ports, TIMED_KINDS);
        Channel kernelServer = listenAtKernel();
        timeAtNettysServer(kernelServer);
        List<Long> kernel = new ArrayList<>();
        Map<String, List<Long>> ours = new LinkedHashMap<>();
        for (int round = 0; round < ROUNDS; round++) {
            for (Stranger.Kind kind : TIMED_KINDS) {
                kernel.addAll(timeAtNettysServer(kernelServer));
                timeAtUcx(kind, ports).forEach((lane, nanos) ->
                        ours.computeIfAbsent(kind + ", lane " + lane, key -> new ArrayList<>()).add(nanos));
            }
        }
        Peers.await(kernelServer.close());
        System.out.println("p99 in µs, at Netty's server under as many connects: " + figures(kernel));
        ours.forEach((name, nanos) -> System.out.println("p99 in µs, " + name + ": " + figures(nanos)));
        long most = TIMES_AS_LONG * median(kernel) + AND_MORE_NANOS;
        String allowed = TIMES_AS_LONG + " × " + median(kernel) / 1000 + " + " + AND_MORE_NANOS / 1000 + " = " + most / 1000;
        System.out.println("p99 in µs that is allowed in the median: " + allowed);
        ours.values().removeIf(nanos -> median(nanos) <= most);
        assertTrue(ours.isEmpty(), () -> "longer than " + allowed + " µs in the median, in nanoseconds: " + ours);
    }

    private static long median(List<Long> nanos) {
        return nanos.stream().sorted().toList().get(nanos.size() / 2);
    }

    private static String figures(List<Long> nanos) {
        return "median " + median(nanos) / 1000 + " of " + nanos.stream().map(each -> each / 1000).sorted().toList();
    }

    /** @return what 99 of 100 requests took at most, by lane */
    private Map<String, Long> timeAtUcx(Stranger.Kind kind, Ports ports) throws Exception {
        Customers shm = ucxCustomers(ports, "shm");
        Customers tcp = ucxCustomers(ports, "tcp");
        Customers socket = ucxCustomers(ports, "socket");
        try (shm; tcp; socket) {
            time(kind, ports, shm, tcp, socket);
            return Map.of("shm", shm.p99Nanos(), "tcp", tcp.p99Nanos(), "socket", socket.p99Nanos());
        }
    }

    /** A server of Netty's own transport. */
    private Channel listenAtKernel() throws InterruptedException {
        return Peers.await(new ServerBootstrap().group(kernelServers)
                .channel(Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Customers.Clerk());
                    }
                }).bind(Peers.loopback(0))).channel();
    }

    /** The same for as many customers there, while as many ordinary connections are made. */
    private List<Long> timeAtNettysServer(Channel server) throws Exception {
        Bootstrap client = new Bootstrap().group(kernelClients)
                .channel(Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter());
        Customers first = new Customers(client, server);
        Customers second = new Customers(client, server);
        Customers third = new Customers(client, server);
        try (first; second; third) {
            time(Stranger.Kind.CLOSED, new Ports(server, server), first, second, third);
            return List.of(first.p99Nanos(), second.p99Nanos(), third.p99Nanos());
        }
    }

    private void time(Stranger.Kind kind, Ports ports, Customers... all) throws Exception {
        // On a busy machine customers are slow, and there are more waves.
        for (int done = 0; done < TIMED || done < MOST_TIMED && !Stream.of(all).allMatch(Customers::hasEnough);
                done += TIMED_WAVE) {
            if (done == TIMED_WARM_UP) {
                for (Customers customers : all) {
                    customers.beginTime();
                }
            }
            long start = System.nanoTime();
            wave(kind, ports, TIMED_WAVE, CLOSED_WITHIN_MILLIS);
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            // As many strangers a second come to both servers.
            Thread.sleep(Math.max(0, TIMED_WAVE_MILLIS - millis));
        }
    }

    // ------------------------------------------------------------------------------------------- what is left

    private void awaitFailures(long expected, Stranger.Kind kind) throws Exception {
        Eventually.await(20_000, () -> kind + ": counted " + metrics().handshakesFailed() + " failures, not " + expected,
                () -> metrics().handshakesFailed() >= expected);
        assertEquals(expected, metrics().handshakesFailed(), kind::toString);
    }

    /** Those of the strangers go; the customers', and the two servers, stay. */
    private static void awaitChannels(Ports ports) throws Exception {
        EventLoop loop = ports.open.eventLoop();
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
        Eventually.await(20_000, () -> "more file descriptors than " + expected + ": " + descriptors(),
                () -> OwnProcess.openDescriptors() <= expected);
    }

    /** What they lead to. */
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
        return text.toString();
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
