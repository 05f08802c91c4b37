// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Eventually;
import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.LoopState;
import io.github.nettyucx.channel.OnEachLane;
import io.github.nettyucx.channel.OwnJvm;
import org.junit.jupiter.api.Tag;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A process runs into its limit of file descriptors: connections fail with an error, or take the lane that costs none
 * but their socket; those that exist go on, and afterwards everything is as before.
 */
@Tag("faults")
@OwnJvm
class NoDescriptorsTest {

    /**
     * The JVM takes some 40 before there is a connection, and the first link of a process some 10. So the last
     * descriptor is another one's of what is made of them, with each limit.
     */
    private static final int FIRST_LIMIT = 200;
    private static final int LAST_LIMIT = 202;
    private static final int MANY = 200;
    private static final int FLOODED_LIMIT = 300;
    private static final int FLOOD = 500;
    /** What is left for a connection and its link, of which there is enough for the connection. */
    private static final int LEFT = 4;
    private static final int HANDSHAKE_TIMEOUT_MILLIS = 3000;
    private static final int LONG_TIMEOUT_MILLIS = 60_000;
    /** Links to a process are not tried again for 30 s after one has failed. */
    private static final int LINK_SECONDS = 60;
    /** A server that has no descriptor lets clients wait, as the kernel does. */
    private static final String NOT_ACCEPTED = "connection timed out";
    private static final int NOT_ACCEPTED_MILLIS = 5000;
    private static final String TOO_MANY = "too many open files";

    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 240)
    void aServerWithoutDescriptorsGoesOn() throws Exception {
        withEachLimit(limit -> {
            try (Child server = Child.start(limitedTo(limit), List.of(), EchoMain.class);
                 Child client = Child.start(ConnectingMain.class, server.awaitPort(), NOT_ACCEPTED_MILLIS)) {
                exhaustAndRecover("server", limit, client, "connect", NOT_ACCEPTED);
            }
        });
    }

    @OnEachLane(timeoutSeconds = 240)
    void aClientWithoutDescriptorsGoesOn() throws Exception {
        withEachLimit(limit -> {
            try (Child server = Child.start(EchoMain.class);
                 Child client = Child.start(limitedTo(limit), List.of(), ConnectingMain.class, server.awaitPort())) {
                exhaustAndRecover("client", limit, client, "connect", TOO_MANY);
            }
        });
    }

    private interface WithLimit {
        void run(int limit) throws Exception;
    }

    /** All at the same time: each has processes of its own, and waits most of the time. */
    private static void withEachLimit(WithLimit test) throws Exception {
        List<Future<?>> running = new ArrayList<>();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            for (int limit = FIRST_LIMIT; limit <= LAST_LIMIT; limit++) {
                int one = limit;
                running.add(threads.submit(() -> {
                    test.run(one);
                    return null;
                }));
            }
        }
        for (Future<?> each : running) {
            each.get();
        }
    }

    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 120)
    void aClientThatStartsMoreConnectsAtOnceThanItHasDescriptorsForGoesOn() throws Exception {
        try (Child server = Child.start(EchoMain.class);
             Child client = Child.start(
                     limitedTo(FIRST_LIMIT), List.of(), ConnectingMain.class, server.awaitPort())) {
            exhaustAndRecover("client", FIRST_LIMIT, client, "storm", TOO_MANY);
        }
    }

    @OnEachLane(timeoutSeconds = 120)
    void aServerThatIsAskedForMoreConnectionsAtOnceThanItHasDescriptorsForGoesOn() throws Exception {
        try (Child server = Child.start(limitedTo(FIRST_LIMIT), List.of(), EchoMain.class);
             Child client = Child.start(ConnectingMain.class, server.awaitPort(), NOT_ACCEPTED_MILLIS)) {
            exhaustAndRecover("server", FIRST_LIMIT, client, "storm", NOT_ACCEPTED);
        }
    }

    /** The loop cannot make what it waits with; its tasks run, and the connect is one of them. */
    @Tag("in-every-build")
    @OnEachLane(lanes = Lane.SOCKET, timeoutSeconds = 120)
    void aConnectOnALoopThatCannotBeginFails() throws Exception {
        try (Child child = Child.start(limitedTo(FIRST_LIMIT), List.of(), FreshLoopMain.class)) {
            String told = child.await("connect");
            assertTrue(told.contains(TOO_MANY), told);
            assertEquals("refused", child.await("afterwards"));
        }
    }

    /** Strangers take all that there are, and stay. The connection that exists goes on. */
    @Tag("in-every-build")
    @OnEachLane(lanes = {Lane.SHM, Lane.SOCKET}, timeoutSeconds = 120)
    void aServerWhosePortIsFloodedRecovers() throws Exception {
        floodAndRecover();
    }

    @OnEachLane(lanes = Lane.TCP, timeoutSeconds = 120)
    void aServerOfUcxsTcpWhosePortIsFloodedRecovers() throws Exception {
        floodAndRecover();
    }

    private static void floodAndRecover() throws Exception {
        List<Socket> strangers = new ArrayList<>();
        try (Child server = Child.start(
                limitedTo(FLOODED_LIMIT), List.of(), EchoMain.class, HANDSHAKE_TIMEOUT_MILLIS)) {
            int port = server.awaitPort();
            try (Child client = Child.start(ConnectingMain.class, port)) {
                client.await("started");
                client.tell("connect 1");
                assertEquals("1 then none", client.await("result"));
                // The server then has the classes that it takes to turn somebody away.
                strangers.add(connect(port));
                awaitEnd(strangers, 0, deadline());
                long start = System.nanoTime();
                for (int i = 0; i < FLOOD; i++) {
                    strangers.add(connect(port));
                }
                long deadline = deadline();
                awaitDescriptors(server, FLOODED_LIMIT);
                for (int i = 1; i < strangers.size(); i++) {
                    awaitEnd(strangers, i, deadline);
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

    /** There are some for the connection, and not for what a link takes. */
    @Tag("in-every-build")
    @OnEachLane(lanes = Lane.SHM, timeoutSeconds = 120)
    void aConnectionForWhoseLinkThereAreNoDescriptorsTakesTheSocket() throws Exception {
        takeTheSocket();
    }

    @OnEachLane(lanes = Lane.TCP, timeoutSeconds = 120)
    void aConnectionForWhoseLinkOverUcxsTcpThereAreNoDescriptorsTakesTheSocket() throws Exception {
        takeTheSocket();
    }

    private static void takeTheSocket() throws Exception {
        List<String> either = List.of("-Dio.github.nettyucx.lanes=" + Lane.current() + ",socket");
        List<Socket> strangers = new ArrayList<>();
        try (Child server = Child.start(limitedTo(FLOODED_LIMIT), either, EchoMain.class, LONG_TIMEOUT_MILLIS)) {
            int port = server.awaitPort();
            // The server then has the classes of a link; its worker goes with its last link.
            try (Child first = Child.start(List.of(), either, ConnectingMain.class, port)) {
                first.await("started");
            }
            String nothingButTheListener = new LoopState(0, 0, 1).toString();
            Eventually.await(40_000, () -> "the worker is given back", () -> {
                server.tell(EchoMain.STATE);
                return server.await(EchoMain.STATE).equals(nothingButTheListener);
            });
            long idle = openDescriptors(server);
            for (long i = idle; i < FLOODED_LIMIT - LEFT; i++) {
                strangers.add(connect(port));
            }
            awaitDescriptors(server, FLOODED_LIMIT - LEFT);
            try (Child client = Child.start(List.of(), either, ConnectingMain.class, port)) {
                client.await("started");
                client.tell("connect 1");
                assertEquals("1 then none", client.await("result"));
                client.tell("lanes");
                assertEquals("socket", client.await("lanes"));
                client.tell("beats");
                assertEquals("all", client.await("beats"));
                for (Socket stranger : strangers) {
                    stranger.close();
                }
                Faults.report("no descriptors for a link: lane %s: the connection took the socket", Lane.current());
                awaitLink(client);
            }
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }

    /** The next connections have a link again, some time after the last failure. */
    private static void awaitLink(Child client) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LINK_SECONDS);
        String last;
        do {
            assertTrue(System.nanoTime() - deadline < 0, "no connection has a link");
            client.tell("close");
            client.await("closed");
            client.tell("connect 1");
            assertEquals("2 then none", client.await("result"));
            client.tell("lanes");
            last = client.await("lanes").split(", ")[1];
        } while (last.equals("socket"));
        assertTrue(Lane.current().has(last), last);
    }

    private static Socket connect(int port) throws IOException {
        return new Socket(InetAddress.ofLiteral("127.0.0.1"), port);
    }

    private static void awaitDescriptors(Child child, long count) throws Exception {
        Eventually.await(40_000, () -> "the strangers take all descriptors of " + child.pid(),
                () -> openDescriptors(child) >= count);
    }

    private static void awaitEnd(List<Socket> strangers, int index, long deadline) throws Exception {
        Socket stranger = strangers.get(index);
        stranger.setSoTimeout((int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
        try {
            assertEquals(-1, stranger.getInputStream().read());
        } catch (SocketTimeoutException e) {
            throw new AssertionError("stranger " + index + " is not turned away", e);
        }
    }

    private static long openDescriptors(Child child) throws Exception {
        try (Stream<Path> all = Files.list(Path.of("/proc/" + child.pid() + "/fd"))) {
            return all.count();
        }
    }

    private static long deadline() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
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
