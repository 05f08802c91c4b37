// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.faults.Hosts.Outage;
import io.github.nettyucx.handshake.HandshakeFailure;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A network between the two processes: one that is good, one that loses packets, one that goes away for a while or for
 * ever. The two hosts are network, IPC and mount namespaces of this one, with its clock and its processors.
 */
@Tag("faults")
@Timeout(600)
class NetworkTest {

    private static final int MIB = 1024 * 1024;
    private static final int CONNECT_MILLIS = 30_000;
    private static final List<String> KINDS = List.of("idle", "small", "large", "paused");
    private static final int ROUNDS = Faults.times(1, 3);

    /** What io.github.nettyucx.peerTimeoutSeconds is, unless it is set. */
    private static final int DEFAULT_SECONDS = 30;
    /**
     * Beyond the limit: the kernel looks once per second or less often, and the machine may be busy. Without the time in
     * which the process stood still.
     */
    private static final long LATE_MILLIS = 2000;
    /** Short of the limit: the host's last answer came before the network went, when the kernel asked for the last time. */
    private static final int EARLY_SHARE = 3;
    /** By how much the kernel's timers may differ from the time that was asked for, all of them together. */
    private static final long TICKS_MILLIS = 100;
    private static final long PROBED_MILLIS = 2500;
    private static final long WAIT_MILLIS = 10_000;
    private static final long WAIT_SECONDS = 60;
    private static final long GAP_MILLIS = 1000;
    private static final int CLOSING = 4;
    private static final int STORM_MILLIS = 3000;
    /** What HANDSHAKE_TIMEOUT_MILLIS and CLOSE_TIMEOUT_MILLIS are, unless they are set. */
    private static final long LIMIT_MILLIS = 10_000;
    /** A link that nobody uses is kept for so long. */
    private static final long LINK_IDLE_MILLIS = 1000;
    private static final long AWAY_MILLIS = 3000;
    /** How long bytes may take to cross a new link, while there is another lane and where there is none. */
    private static final long REACH_MILLIS = 3000;
    private static final long LAST_REACH_MILLIS = 8000;

    /** What carries the bytes between the two hosts. */
    private static List<Lane> lanes() {
        return List.of(Lane.TCP, Lane.SOCKET);
    }

    /** In each build without those that take longer and show the same. */
    private static List<Arguments> outages() {
        return lanes().stream().flatMap(lane -> Arrays.stream(Outage.values())
                .filter(outage -> Faults.FULL || outage == Outage.BLACK_HOLE)
                .map(outage -> Arguments.of(lane, outage))).toList();
    }

    @BeforeEach
    void needsNamespaces(TestInfo test) throws Exception {
        String whyNot = Hosts.whyNot();
        if (whyNot != null) {
            Faults.report("network: %s: NOT RUN: %s", test.getDisplayName(), whyNot);
        }
        assumeTrue(whyNot == null, whyNot);
    }

    /** A server on the right host, a client on the left one, which has a connection to itself as well. */
    private static final class Pair implements AutoCloseable {

        final Lane lane;
        final Hosts hosts;
        final Child server;
        final Child client;
        final int port;
        final int port6;
        private final int ownPort;

        /** @param lane between the two; within each host it is shared memory */
        Pair(Lane lane, String... more) throws Exception {
            this(new Hosts(), lane, more);
        }

        Pair(Hosts hosts, Lane lane, String... more) throws Exception {
            this.hosts = hosts;
            this.lane = lane;
            List<String> flags = new ArrayList<>(List.of("-Dio.github.nettyucx.lanes=shm," + lane));
            flags.addAll(List.of(more));
            server = Child.start(hosts.right().launcher(), flags, NetworkMain.class,
                    hosts.right().address(), hosts.right().address6());
            client = Child.start(hosts.left().launcher(), flags, NetworkMain.class, "127.0.0.1");
            String[] ports = server.await("ports").split(" ");
            port = Integer.parseInt(ports[0]);
            port6 = Integer.parseInt(ports[1]);
            ownPort = Integer.parseInt(client.await("ports"));
        }

        void connect(String name) throws Exception {
            connect(name, hosts.right().address(), port);
        }

        void connect6(String name) throws Exception {
            connect(name, hosts.right().address6(), port6);
        }

        void connectOwn(String name) throws Exception {
            connectByMemory(name, "127.0.0.1", ownPort);
        }

        void connectByMemory(String name, String address, int port) throws Exception {
            String result = tryConnect(name, address, port, CONNECT_MILLIS)[1];
            assertTrue(result.equals("sysv") || result.equals("posix"), result);
        }

        /** One connection of each kind, over which something goes, or nothing. */
        void connectAll() throws Exception {
            for (String what : KINDS) {
                connect(what);
                start(what, what);
            }
            awaitBeats("small");
            awaitBeats("large");
        }

        private void connect(String name, String address, int port) throws Exception {
            assertEquals(lane.toString(), tryConnect(name, address, port, CONNECT_MILLIS)[1]);
        }

        /** @return after how many milliseconds, the lane or what has failed, and in how many of them the client stood still */
        String[] tryConnect(String name, String address, int port, int timeoutMillis) throws Exception {
            client.tell("connect " + name + ' ' + address + ' ' + port + ' ' + timeoutMillis);
            String[] words = client.await("connected").split(" ", 3);
            return new String[] {words[0], words[2], words[1]};
        }

        /** How many connects of the client's have failed for this reason. */
        long failures(HandshakeFailure reason) throws Exception {
            client.tell("failures " + reason);
            return Long.parseLong(client.await("failures"));
        }

        void start(String name, String what) throws Exception {
            client.tell(what + ' ' + name);
            client.await("started");
        }

        /** @return in milliseconds */
        long transfer(String name, int bytes) throws Exception {
            client.tell("transfer " + name + ' ' + bytes);
            String[] result = client.await("transferred", 90).split(" ");
            assertEquals(Integer.toString(bytes), result[1]);
            return Long.parseLong(result[0]);
        }

        /** @return the longest time that nothing came, in milliseconds, of what the machine does not explain */
        long awaitBeats(String name) throws Exception {
            client.tell("beats " + name);
            return Long.parseLong(client.await("beats", 90));
        }

        void close(String name) throws Exception {
            client.tell("close " + name);
            assertEquals("in order", client.await("closed"));
        }

        @Override
        public void close() throws Exception {
            client.close();
            server.close();
            hosts.close();
        }
    }

    @ParameterizedTest
    @MethodSource("lanes")
    @Tag("in-every-build")
    void everyByteArrivesOnAnotherHostAndOverABadNetwork(Lane lane) throws Exception {
        try (Pair pair = new Pair(lane)) {
            pair.connect("IPv4");
            pair.connect6("IPv6");
            long good = pair.transfer("IPv4", 16 * MIB);
            long good6 = pair.transfer("IPv6", 16 * MIB);
            pair.close("IPv4");
            pair.close("IPv6");
            pair.hosts.worsen(2, 400);
            pair.connect("IPv4");
            pair.connect6("IPv6");
            long bad = pair.transfer("IPv4", 8 * MIB);
            long bad6 = pair.transfer("IPv6", 8 * MIB);
            pair.close("IPv4");
            pair.close("IPv6");
            // Of the client's closes the server hears in its own time: what tells of them may have been lost and be sent again.
            pair.server.tell("accepted " + WAIT_MILLIS + ' ' + System.nanoTime());
            String ends = pair.server.await("accepted", WAIT_SECONDS).split(" ", 3)[2];
            assertEquals("in order, in order, in order, in order", ends);
            Faults.report("network: lane %s: 16 MiB there and back in %d ms over IPv4, in %d ms over IPv6; 8 MiB while 2 %%"
                    + " of the packets get lost in %d and %d ms; all connections ended in order", lane, good, good6,
                    bad, bad6);
        }
    }

    @Test
    @Tag("in-every-build")
    void aConnectToWhereNobodyAnswersFails() throws Exception {
        // It does not come to a lane.
        try (Pair pair = new Pair(Lane.SOCKET)) {
            // Of two new JVMs, which load UCX for it: the limits that follow are for a connect alone.
            pair.connect("still");
            String nobody = pair.hosts.right().address() + '0';
            // The first address of the network that nobody has.
            String[] timeout = pair.tryConnect("nobody", nobody, 1, 1000);
            String[] noRoute = pair.tryConnect("nobody", nobody, 1, CONNECT_MILLIS);
            pair.hosts.begin(Outage.BLACK_HOLE);
            String[] hole = pair.tryConnect("hole", pair.hosts.right().address(), pair.port, 1000);
            pair.hosts.giveUpConnectsEarly();
            String[] kernel = pair.tryConnect("kernel", pair.hosts.right().address(), pair.port, 0);
            assertBetween(1000, 1000 + LATE_MILLIS, timeout);
            assertTrue(timeout[1].contains("ConnectTimeoutException: connection timed out after 1000 ms"), timeout[1]);
            assertBetween(0, WAIT_MILLIS, noRoute);
            assertTrue(noRoute[1].contains("NoRouteToHostException: No route to host"), noRoute[1]);
            assertBetween(1000, 1000 + LATE_MILLIS, hole);
            assertTrue(hole[1].contains("ConnectTimeoutException: connection timed out after 1000 ms"), hole[1]);
            assertBetween(2000, 3000 + LATE_MILLIS, kernel);
            assertTrue(kernel[1].contains("ConnectException: Connection timed out"), kernel[1]);
            assertEquals(3, pair.failures(HandshakeFailure.TIMED_OUT));
            assertEquals(1, pair.failures(HandshakeFailure.UNREACHABLE));
            assertEquals(0, pair.failures(HandshakeFailure.REFUSED));
            Faults.report("network: nobody there: with a limit of 1 s after %s ms %s; without after %s ms %s; "
                    + "in a black hole after %s ms %s, and without a limit after %s ms %s", timeout[0], timeout[1],
                    noRoute[0], noRoute[1], hole[0], hole[1], kernel[0], kernel[1]);
        }
    }

    private static void assertBetween(long least, long most, String[] result) {
        long millis = Long.parseLong(result[0]);
        assertTrue(millis >= least && millis - Long.parseLong(result[2]) <= most,
                () -> "after " + millis + " ms, " + result[2] + " of them held up: " + result[1]);
    }

    @ParameterizedTest
    @MethodSource("lanes")
    @Tag("in-every-build")
    void connectionsEndWhenTheNetworkHasGoneForTheTimeThatIsSet(Lane lane) throws Exception {
        goesForEver(lane, Outage.BLACK_HOLE, 3, "-Dio.github.nettyucx.peerTimeoutSeconds=3");
    }

    @ParameterizedTest
    @MethodSource("outages")
    void connectionsEndWhenTheNetworkHasGone(Lane lane, Outage outage) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            goesForEver(lane, outage, DEFAULT_SECONDS);
        }
    }

    private static void goesForEver(Lane lane, Outage outage, int seconds, String... flags) throws Exception {
        long millis = TimeUnit.SECONDS.toMillis(seconds);
        long least = millis - millis / EARLY_SHARE;
        long bound = millis + LATE_MILLIS;
        try (Pair pair = new Pair(lane, flags)) {
            pair.connectAll();
            pair.connectOwn("own");
            pair.start("own", "small");
            pair.awaitBeats("own");
            // So that the connections are being looked after.
            Thread.sleep(PROBED_MILLIS);
            long before = System.nanoTime();
            pair.hosts.begin(outage);
            long begin = System.nanoTime();
            long due = begin + TimeUnit.MILLISECONDS.toNanos(millis);
            // The kernel takes it, and no read would tell of the end.
            pair.start("paused", "write");
            StringBuilder ends = new StringBuilder();
            for (String what : KINDS) {
                pair.client.tell("ended " + what + ' ' + (bound + WAIT_MILLIS) + ' ' + due);
                ends.append(what).append(' ')
                        .append(end(pair.client.await("ended", WAIT_SECONDS), before, least, begin, bound)).append("; ");
            }
            pair.server.tell("accepted " + (bound + WAIT_MILLIS) + ' ' + due);
            ends.append("at the server ").append(end(pair.server.await("accepted", WAIT_SECONDS), before, least, begin, bound));
            long gap = pair.awaitBeats("own");
            assertTrue(gap < GAP_MILLIS, () -> "the loop's other connection waited for " + gap + " ms");
            pair.hosts.end(outage);
            pair.connect("again");
            pair.transfer("again", MIB);
            Faults.report("network: lane %s, %s, with a limit of %d s: %s (bounds: %d to %d ms); longest gap of the loop's"
                    + " other connection %d ms; afterwards a new one worked", lane, outage, seconds, ends, least, bound,
                    gap);
        }
    }

    /** Of connections that are being made, and of others that are being closed with much to deliver. */
    @ParameterizedTest
    @MethodSource("outages")
    @Tag("in-every-build")
    void nothingIsLeftOfConnectionsThatAreMadeOrClosedWhenTheNetworkGoes(Lane lane, Outage outage) throws Exception {
        try (Pair pair = new Pair(lane, "-Dio.github.nettyucx.peerTimeoutSeconds=3")) {
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < CLOSING; i++) {
                    pair.connect("large" + i);
                    pair.start("large" + i, "large");
                    pair.awaitBeats("large" + i);
                }
                pair.connectOwn("own");
                pair.start("own", "small");
                pair.client.tell("storm " + pair.hosts.right().address() + ' ' + pair.port + ' ' + STORM_MILLIS);
                pair.client.await("storming", WAIT_SECONDS);
                pair.hosts.begin(outage);
                long begin = System.nanoTime();
                for (int i = 0; i < CLOSING; i++) {
                    pair.client.tell("depart large" + i);
                    pair.client.await("departed");
                }
                pair.client.tell("calm");
                String[] storm = pair.client.await("calm", WAIT_SECONDS).split(" ", 3);
                assertBetween(1, STORM_MILLIS + LATE_MILLIS, new String[] {storm[1], storm[2], "0"});
                // It ends by the client's closing it, so that nothing but the lost connections is left to wait for.
                long gap = pair.awaitBeats("own");
                assertTrue(gap < GAP_MILLIS, () -> "the loop's other connection waited for " + gap + " ms");
                pair.close("own");
                long client = forsaken(pair.client, begin);
                long server = forsaken(pair.server, begin);
                pair.hosts.end(outage);
                pair.connect("again");
                pair.transfer("again", MIB);
                pair.close("again");
                Faults.report("network: lane %s, %s while %d connections with much to deliver were closed and others made (%s;"
                        + " the slowest failed after %s ms: %s): nothing was left at the client after %d ms, at the"
                        + " server after %d ms (bound: %d ms); longest gap of the loop's other connection %d ms", lane, outage,
                        CLOSING, storm[0], storm[1], storm[2], client, server,
                        LIMIT_MILLIS + LINK_IDLE_MILLIS + LATE_MILLIS, gap);
            }
        }
    }

    private static long forsaken(Child child, long begin) throws Exception {
        long due = begin + TimeUnit.MILLISECONDS.toNanos(LIMIT_MILLIS + LINK_IDLE_MILLIS);
        child.tell("forsaken " + (LIMIT_MILLIS + WAIT_MILLIS) + ' ' + due);
        String[] result = child.await("forsaken", WAIT_SECONDS).split(" ");
        assertEquals("0", result[2], "connections left");
        long millis = TimeUnit.NANOSECONDS.toMillis(Long.parseLong(result[0]) - begin - Long.parseLong(result[1]));
        assertTrue(millis <= LIMIT_MILLIS + LINK_IDLE_MILLIS + LATE_MILLIS, () -> "after " + millis + " ms");
        return millis;
    }

    /**
     * @param before the network went; not earlier than {@code least} after that, but for the kernel's ticks
     * @param begin  when it had gone
     * @return after how many milliseconds beside those behind the limit in which the process stood still, and why
     */
    private static String end(String line, long before, long least, long begin, long bound) {
        String[] words = line.split(" ", 3);
        long ended = Long.parseLong(words[0]);
        long millis = TimeUnit.NANOSECONDS.toMillis(ended - begin - Long.parseLong(words[1]));
        assertTrue(TimeUnit.NANOSECONDS.toMillis(ended - before) >= least - TICKS_MILLIS && millis <= bound,
                () -> "ended after " + millis + " ms: " + words[2]);
        assertFalse(words[2].contains("in order") || words[2].contains("still there"), words[2]);
        return millis + " ms, " + words[2];
    }

    /** As with two fabrics of which one does not lead to the peer, or a packet filter. */
    @Test
    @Tag("in-every-build")
    void aConnectionTakesTheNextLaneIfNothingCrossesItsLink() throws Exception {
        Hosts hosts = new Hosts();
        hosts.giveUcxABrokenCable();
        try (Pair pair = new Pair(hosts, Lane.SOCKET, "-Dio.github.nettyucx.lanes=tcp,socket")) {
            String[] first = pair.tryConnect("first", pair.hosts.right().address(), pair.port, CONNECT_MILLIS);
            String[] second = pair.tryConnect("second", pair.hosts.right().address(), pair.port, CONNECT_MILLIS);
            assertEquals(Lane.SOCKET.toString(), first[1]);
            // The first of two JVMs, which load UCX for it; but not as late as where there is no other lane.
            assertBetween(REACH_MILLIS, LAST_REACH_MILLIS - 1, first);
            assertEquals(Lane.SOCKET.toString(), second[1]);
            // It does not wait for the link once more.
            assertBetween(0, GAP_MILLIS, second);
            pair.transfer("first", MIB);
            pair.transfer("second", MIB);
            pair.close("first");
            pair.close("second");
            Faults.report("network: nothing crosses UCX's network: a connection with lanes tcp,socket took lane %s after %s"
                    + " ms, the next one after %s ms", first[1], first[0], second[0]);
        }
    }

    /** UCX would use memory that they share, but has no way to wake the other's loop: its signals end at the namespace. */
    @Test
    @Tag("in-every-build")
    void containersThatShareMemoryAndNoNetworkUseTheSocket() throws Exception {
        try (Pair pair = new Pair(Hosts.sharingMemory(), Lane.SOCKET)) {
            pair.connect("container");
            long millis = pair.transfer("container", 16 * MIB);
            pair.close("container");
            pair.connectOwn("own");
            pair.close("own");
            Faults.report("network: 16 MiB there and back between two containers with one IPC namespace in %d ms", millis);
        }
    }

    @ParameterizedTest
    @MethodSource("outages")
    void connectionsGoOnWhenTheNetworkComesBack(Lane lane, Outage outage) throws Exception {
        try (Pair pair = new Pair(lane)) {
            pair.connectAll();
            for (int round = 0; round < ROUNDS; round++) {
                pair.awaitBeats("small");
                pair.hosts.begin(outage);
                // How long the network is away.
                Thread.sleep(AWAY_MILLIS);
                pair.hosts.end(outage);
                long back = System.nanoTime();
                pair.awaitBeats("small");
                long small = Hosts.millisSince(back);
                pair.awaitBeats("large");
                long large = Hosts.millisSince(back);
                Faults.report("network: lane %s, %s for %d ms: small messages went on after %d ms, large ones after %d ms",
                        lane, outage, AWAY_MILLIS, small, large);
            }
            pair.transfer("idle", 8 * MIB);
            for (String what : List.of("idle", "small")) {
                pair.close(what);
            }
        }
    }
}
