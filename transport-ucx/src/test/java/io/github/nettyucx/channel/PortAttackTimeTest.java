// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.ReferenceCountUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Whoever comes to a server's port, its clients of all lanes are served about as fast as those of Netty's own transport are
 * under the same number of connections.
 * <p>
 * What is measured is the machine's doing as well. So rounds at one server take turns with rounds at the other. Each is
 * compared with the one just before it at Netty's server, and the median of what is too much counts: what disturbs the
 * machine for a while disturbs both, or does not count. A round has few requests, and what the slowest of them took is
 * chance for the most part. So there are more rounds as long as the median is too much: what a server does to its clients
 * stays, chance does not.
 */
@OwnJvm
class PortAttackTimeTest {

    private static final long SEED = Long.getLong("io.github.nettyucx.test.seed", System.nanoTime() & 0xffff);
    /** A round trip under attack may take so many times what it takes at Netty's server, and so much more. */
    private static final int TIMES_AS_LONG = 3;
    private static final long AND_MORE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** Some of those that are over at once, so that the machine is busy with them all the time. */
    private static final List<Stranger.Kind> SOME = List.of(Stranger.Kind.CLOSED, Stranger.Kind.RANDOM_BYTES,
            Stranger.Kind.VERSION_1, Stranger.Kind.WRONG_GO);
    /** Odd, so that one of them is the median. */
    private static final int ROUNDS = 5;
    private static final int MOST_ROUNDS = 21;
    private static final int COUNT = 1000;
    private static final int MOST = 10 * COUNT;
    private static final int WARM_UP = 200;
    /** 2000 connects in a second. */
    private static final Pace SMALL_WAVES = new Pace(50, 25);
    /** For those who stay: until the server's time for them is over, which takes a second. */
    private static final Pace LARGE_WAVES = new Pace(1000, 1500);

    private final SplittableRandom random = new SplittableRandom(SEED);
    private LeakWatch leaks;
    private Peers peers;
    private EventLoopGroup kernelServers;
    private EventLoopGroup kernelClients;

    @BeforeEach
    void startLoops() {
        System.out.println("seed " + SEED);
        leaks = new LeakWatch();
        peers = new Peers();
        kernelServers = AttackedPorts.newKernelLoop();
        kernelClients = AttackedPorts.newKernelLoop();
    }

    @AfterEach
    void end() throws InterruptedException {
        peers.close();
        Peers.await(kernelServers.shutdownGracefully(0, 15, TimeUnit.SECONDS));
        Peers.await(kernelClients.shutdownGracefully(0, 15, TimeUnit.SECONDS));
        leaks.assertNothingLeft();
    }

    /**
     * How strangers come.
     *
     * @param wave so many together
     * @param millis from one wave to the next, if the machine keeps up
     */
    private record Pace(int wave, long millis) { }

    @Tag("faults")
    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 900, lanes = Lane.SHM)
    void strangersHoldUpClientsNoLongerThanConnectsDoAtNettysServer() throws Exception {
        compare(SOME, SMALL_WAVES, Stranger.Kind.CLOSED);
    }

    @Tag("faults")
    @OnEachLane(timeoutSeconds = 1800, lanes = Lane.SHM)
    void noKindThatIsTurnedAwayAtOnceDoes() throws Exception {
        compare(Stranger.Kind.chosen().stream().filter(kind -> !kind.stays()).toList(), SMALL_WAVES, Stranger.Kind.CLOSED);
    }

    @Tag("faults")
    @OnEachLane(timeoutSeconds = 1800, lanes = Lane.SHM)
    void noKindThatStaysDoes() throws Exception {
        compare(Stranger.Kind.chosen().stream().filter(kind -> kind.stays() && kind != Stranger.Kind.SLOW).toList(),
                LARGE_WAVES, Stranger.Kind.CLOSED);
    }

    /** Each of their bytes is an event. So it is at Netty's server, whose clients say as much as slowly. */
    @Tag("faults")
    @OnEachLane(timeoutSeconds = 1800, lanes = Lane.SHM)
    void norDoThoseWhoSayOneByteAtATime() throws Exception {
        compare(List.of(Stranger.Kind.SLOW), LARGE_WAVES, Stranger.Kind.SLOW);
    }

    /** @param ordinary what those do who come to Netty's server */
    private void compare(List<Stranger.Kind> kinds, Pace pace, Stranger.Kind ordinary) throws Exception {
        AttackedPorts ports = AttackedPorts.listen(peers, leaks);
        ports.warmUp(kinds, random);
        Channel kernelServer = AttackedPorts.listenAtKernel(kernelServers, PatientClerk::new);
        timeAtNettysServer(kernelServer, pace, ordinary);
        List<Long> kernel = new ArrayList<>();
        Map<String, List<Long>> ours = new LinkedHashMap<>();
        Map<Stranger.Kind, Map<String, List<Long>>> beyond = new LinkedHashMap<>();
        List<Stranger.Kind> undecided = kinds;
        for (int round = 1; round <= MOST_ROUNDS && !undecided.isEmpty(); round++) {
            for (Stranger.Kind kind : undecided) {
                List<Long> before = timeAtNettysServer(kernelServer, pace, ordinary);
                kernel.addAll(before);
                long expected = TIMES_AS_LONG * median(before);
                Map<String, List<Long>> beyondByLane = beyond.computeIfAbsent(kind, key -> new LinkedHashMap<>());
                timeAtUcx(kind, pace, ports).forEach((lane, nanos) -> {
                    ours.computeIfAbsent(kind + ", lane " + lane, key -> new ArrayList<>()).add(nanos);
                    beyondByLane.computeIfAbsent(lane, key -> new ArrayList<>()).add(nanos - expected);
                });
            }
            if (round >= ROUNDS && round % 2 == 1) {
                undecided = undecided.stream().filter(kind -> isTooMuch(beyond.get(kind))).toList();
            }
        }
        Peers.await(kernelServer.close());
        System.out.println("p99 in µs, at Netty's server under as many connects: " + figures(kernel));
        ours.forEach((name, nanos) -> System.out.println("p99 in µs, " + name + ": " + figures(nanos)));
        beyond.forEach((kind, lanes) -> lanes.forEach((lane, nanos) -> System.out.println("p99 in µs beyond " + TIMES_AS_LONG
                + " × that at Netty's server just before, " + kind + ", lane " + lane + ": " + figures(nanos))));
        beyond.keySet().retainAll(undecided);
        assertTrue(beyond.isEmpty(), () -> "longer than " + TIMES_AS_LONG + " × that at Netty's server just before by more"
                + " than " + AND_MORE_NANOS + " ns in the median, in nanoseconds: " + beyond);
    }

    private static boolean isTooMuch(Map<String, List<Long>> beyondByLane) {
        return beyondByLane.values().stream().anyMatch(nanos -> median(nanos) > AND_MORE_NANOS);
    }

    private static long median(List<Long> nanos) {
        return nanos.stream().sorted().toList().get(nanos.size() / 2);
    }

    private static String figures(List<Long> nanos) {
        return "median " + median(nanos) / 1000 + " of " + nanos.stream().map(each -> each / 1000).sorted().toList();
    }

    // ------------------------------------------------------------------------------------------- one round

    /** @return what 99 of 100 requests took at most, by lane */
    private Map<String, Long> timeAtUcx(Stranger.Kind kind, Pace pace, AttackedPorts ports) throws Exception {
        Customers shm = ports.customers(peers, "shm");
        Customers tcp = ports.customers(peers, "tcp");
        Customers socket = ports.customers(peers, "socket");
        try (shm; tcp; socket) {
            time(kind, pace, ports, shm, tcp, socket);
            return Map.of("shm", shm.p99Nanos(), "tcp", tcp.p99Nanos(), "socket", socket.p99Nanos());
        }
    }

    /** The same for as many customers at a server of Netty's own transport, while as many ordinary connections are made. */
    private List<Long> timeAtNettysServer(Channel server, Pace pace, Stranger.Kind ordinary) throws Exception {
        Bootstrap client = new Bootstrap().group(kernelClients)
                .channel(Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter());
        Customers first = new Customers(client, server);
        Customers second = new Customers(client, server);
        Customers third = new Customers(client, server);
        try (first; second; third) {
            time(ordinary, pace, new AttackedPorts(server, server), first, second, third);
            return List.of(first.p99Nanos(), second.p99Nanos(), third.p99Nanos());
        }
    }

    private void time(Stranger.Kind kind, Pace pace, AttackedPorts ports, Customers... all) throws Exception {
        int timedFrom = Math.max(WARM_UP, pace.wave);
        // On a busy machine customers are slow, and there are more waves.
        for (int done = 0; done < Math.max(COUNT, 2 * timedFrom)
                || done < MOST && !Stream.of(all).allMatch(Customers::hasEnough); done += pace.wave) {
            if (done == timedFrom) {
                for (Customers customers : all) {
                    customers.beginTime();
                }
            }
            long start = System.nanoTime();
            ports.wave(kind, pace.wave, random);
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            // As many strangers a second come to both servers.
            Thread.sleep(Math.max(0, pace.millis - millis));
        }
    }

    /** Serves customers, and gives others as much time as the server of this transport does. */
    private static final class PatientClerk extends Customers.Clerk {

        private boolean isOther;

        @Override
        public void channelActive(ChannelHandlerContext context) throws Exception {
            isOther = Stranger.isOne((InetSocketAddress) context.channel().remoteAddress());
            if (isOther) {
                context.executor().schedule(() -> context.close(), AttackedPorts.TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
            }
            super.channelActive(context);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (isOther) {
                ReferenceCountUtil.release(message);
            } else {
                super.channelRead(context, message);
            }
        }
    }
}
