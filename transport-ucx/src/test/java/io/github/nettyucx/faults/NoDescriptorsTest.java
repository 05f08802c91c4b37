// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.OnEachLane;
import org.junit.jupiter.api.Tag;

import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A process runs into its limit of file descriptors: connections fail with an error, those that exist go on. */
@Tag("faults")
class NoDescriptorsTest {

    /**
     * The JVM takes some 100 before there is a connection. A connection takes two or three: so the last descriptor is
     * another one's of what a connection takes, with each limit.
     */
    private static final int FIRST_LIMIT = 200;
    private static final int LAST_LIMIT = 202;
    private static final int MANY = 200;
    private static final int FLOODED_LIMIT = 300;
    private static final int FLOOD = 500;
    private static final int TOO_MUCH = 8192;
    /** What the last of the strangers have, who do not take a quarter of the descriptors. */
    private static final int HANDSHAKE_TIMEOUT_MILLIS = 3000;
    /** Enough for a descriptor of each of so many, and not for more of each. */
    private static final int LIMIT_WITH_REQUESTS = 400;

    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 240)
    void aServerWithoutDescriptorsGoesOn() throws Exception {
        for (int limit = FIRST_LIMIT; limit <= LAST_LIMIT; limit++) {
            try (Child server = Child.start(limitedTo(limit), List.of(), EchoMain.class);
                 Child client = Child.start(ConnectingMain.class, server.awaitPort())) {
                exhaustAndRecover("server", limit, client, "connect",
                        "Connection rejected by the peer's transport");
            }
        }
    }

    @OnEachLane(timeoutSeconds = 240)
    void aClientWithoutDescriptorsGoesOn() throws Exception {
        for (int limit = FIRST_LIMIT; limit <= LAST_LIMIT; limit++) {
            try (Child server = Child.start(EchoMain.class);
                 Child client = Child.start(limitedTo(limit), List.of(), ConnectingMain.class, server.awaitPort())) {
                exhaustAndRecover("client", limit, client, "connect", "too many open files");
            }
        }
    }

    /** Strangers take all that there are, and stay. The connection that exists goes on. */
    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 120)
    void aServerWhosePortIsFloodedRecovers() throws Exception {
        List<String> launcher = new ArrayList<>(limitedTo(FLOODED_LIMIT));
        // UCX says with each of its vain attempts that it cannot accept. And it takes a peer over shared memory for
        // dead when it has no descriptor to ask for it with, so it is not to ask meanwhile.
        launcher.addAll(List.of("env", "UCX_LOG_LEVEL=fatal", "UCX_KEEPALIVE_INTERVAL=10m"));
        List<Socket> strangers = new ArrayList<>();
        try (Child server = Child.start(launcher, List.of(), EchoMain.class, HANDSHAKE_TIMEOUT_MILLIS)) {
            int port = server.awaitPort();
            try (Child client = Child.start(ConnectingMain.class, port)) {
                client.await("started");
                client.tell("connect 1");
                assertEquals("1 then none", client.await("result"));
                // The server then has the classes that it takes to turn somebody away.
                strangers.add(new Socket(InetAddress.ofLiteral("127.0.0.1"), port));
                strangers.getFirst().getOutputStream().write(new byte[TOO_MUCH]);
                awaitReset(strangers, 0, deadline());
                long start = System.nanoTime();
                for (int i = 0; i < FLOOD; i++) {
                    strangers.add(new Socket(InetAddress.ofLiteral("127.0.0.1"), port));
                }
                long deadline = deadline();
                while (openDescriptors(server) < FLOODED_LIMIT) {
                    assertTrue(System.nanoTime() - deadline < 0, "the strangers do not take all descriptors");
                }
                for (int i = 1; i < strangers.size(); i++) {
                    awaitReset(strangers, i, deadline);
                }
                double seconds = (System.nanoTime() - start) / 1e9;
                client.tell("beats");
                assertEquals("all", client.await("beats"), "the connection that exists");
                connectAgain(client);
                Faults.report("flood: lane %s: %d strangers, who stayed, at a server limited to %d descriptors, which "
                        + "had none left; all turned away after %.1f s; then new connections worked", Lane.current(),
                        FLOOD, FLOODED_LIMIT, seconds);
            }
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }

    private static void awaitReset(List<Socket> strangers, int index, long deadline) throws Exception {
        Socket stranger = strangers.get(index);
        stranger.setSoTimeout((int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
        try {
            stranger.getInputStream().read();
        } catch (SocketTimeoutException e) {
            throw new AssertionError("stranger " + index + " is not turned away", e);
        } catch (SocketException e) {
            assertTrue(e.getMessage().contains("reset"), e::toString);
        }
    }

    private static long openDescriptors(Child child) throws Exception {
        try (Stream<Path> all = Files.list(Path.of("/proc/" + child.pid() + "/fd"))) {
            return all.count();
        }
    }

    private static long deadline() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    }

    /** Each connect takes one descriptor at once, and the others when the server has accepted it. */
    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 120)
    void aClientThatStartsMoreConnectsAtOnceThanItHasDescriptorsForGoesOn() throws Exception {
        try (Child server = Child.start(EchoMain.class);
             Child client = Child.start(
                     limitedTo(FIRST_LIMIT), List.of(), ConnectingMain.class, server.awaitPort())) {
            exhaustAndRecover("client", FIRST_LIMIT, client, "storm", "too many open files");
        }
    }

    /** The requests to connect that wait take one descriptor each, and those that are accepted two more. */
    @OnEachLane(timeoutSeconds = 120)
    void aServerThatIsAskedForMoreConnectionsAtOnceThanItHasDescriptorsForGoesOn() throws Exception {
        try (Child server = Child.start(limitedTo(LIMIT_WITH_REQUESTS), List.of(), EchoMain.class);
             Child client = Child.start(ConnectingMain.class, server.awaitPort())) {
            exhaustAndRecover("server", LIMIT_WITH_REQUESTS, client, "storm",
                    "Connection rejected by the peer's transport");
        }
    }

    private static List<String> limitedTo(int limit) {
        return List.of("prlimit", "--nofile=" + limit + ':' + limit);
    }

    private static void exhaustAndRecover(String limited, int limit, Child client, String how, String expected)
            throws Exception {
        client.await("started");
        client.tell(how + ' ' + MANY);
        String exhausted = client.await("result");
        for (String reason : exhausted.split(ConnectingMain.REASON_SEPARATOR)) {
            assertTrue(reason.contains(expected), exhausted);
        }
        assertFalse(exhausted.startsWith("0 "), exhausted);
        client.tell("beats");
        assertEquals("all", client.await("beats"), "the connections that exist");
        client.tell("close");
        client.await("closed");
        // The other side has closed its ends when it has noticed.
        connectAgain(client);
        Faults.report("no descriptors: lane %s: the %s, limited to %d, had %s; these went on; afterwards new ones"
                + " worked", Lane.current(), limited, limit, exhausted);
    }

    private static void connectAgain(Child client) throws Exception {
        long deadline = deadline();
        String again;
        do {
            assertTrue(System.nanoTime() - deadline < 0, "no new connections");
            client.tell("connect 5");
            again = client.await("result");
        } while (!again.endsWith("none"));
        client.tell("beats");
        assertEquals("all", client.await("beats"), "the new connections");
    }
}
