// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.processes;

import io.github.nettyucx.channel.Peers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Two processes of one host, and what they leave open, and what is left of one that was killed. */
class TwoProcessesTest {

    private static final Set<String> SHARED_MEMORY = Set.of("sysv", "posix");
    private static final String ALL_LANES = "lanes=shm,rdma,socket";
    private static final int ROUNDS = 10;
    private static final int AT_A_TIME = 8;

    private Side here;
    private RemoteSide there;

    @BeforeEach
    void start() throws IOException {
        here = new Side();
        there = new RemoteSide();
    }

    @AfterEach
    void end() throws InterruptedException {
        there.close();
        here.close();
    }

    // ------------------------------------------------------------------------------------------- both ways

    @ParameterizedTest
    @ValueSource(strings = {"lanes=shm", "lanes=tcp", "lanes=socket"})
    void theyConnectToEachOtherAtTheSameTime(String lanes) throws Exception {
        bothWays(lanes, ROUNDS);
    }

    @Tag("faults")
    @Test
    void theyConnectToEachOtherAtTheSameTimeForLong() throws Exception {
        bothWays("lanes=shm", 100 * ROUNDS);
    }

    /** @param lanes one: who has another takes it if what others have begun takes too long for him */
    private void bothWays(String lanes, int rounds) throws Exception {
        InetSocketAddress here = this.here.listen(Peers.loopback(0), lanes);
        InetSocketAddress there = this.there.listen(lanes);
        for (int round = 0; round < rounds; round++) {
            this.there.begin("meet" + RemoteSide.at(here), String.valueOf(AT_A_TIME), lanes);
            Set<String> connecting = this.here.meet(there, AT_A_TIME, lanes);
            // One lane, the same in both directions.
            assertEquals(1, connecting.size(), connecting::toString);
            assertEquals(connecting.toString(), this.there.answer());
        }
    }

    // ------------------------------------------------------------------------------------------- ports

    /** Nothing listens but what the application has bound. */
    @ParameterizedTest
    @ValueSource(strings = {"lanes=shm,rdma,socket", "lanes=socket"})
    void theyListenOnNoPortButTheServers(String lanes) throws Exception {
        try (RemoteSide client = new RemoteSide()) {
            InetSocketAddress server = there.listen(lanes);
            assertEquals("[" + server.getPort() + "]", there.ask("ports"), "before a connection");
            String lane = client.ask("stay" + RemoteSide.at(server), lanes);
            assertTrue(lane.equals("socket") == lanes.equals("lanes=socket") && !lane.equals("tcp"), lane);
            assertEquals("[]", client.ask("ports"), "of the client, by " + lane);
            assertEquals("[" + server.getPort() + "]", there.ask("ports"), "of the server, by " + lane);
        }
    }

    /** Else the test before could not fail. */
    @Test
    void whatListensIsFound() throws Exception {
        try (RemoteSide client = new RemoteSide()) {
            InetSocketAddress server = there.listen("lanes=tcp");
            assertEquals("tcp", client.ask("stay" + RemoteSide.at(server), "lanes=tcp"));
            assertNotEquals("[]", client.ask("ports"), "UCX's own TCP has ports of its own");
        }
    }

    // ------------------------------------------------------------------------------------------- announcements

    @Test
    void theAnnouncementOfAServerThatWasKilledIsGone() throws Exception {
        InetSocketAddress server = there.listen();
        awaitReady(server);
        String lane = here.connect(server, "mode=ANNOUNCED", ALL_LANES);
        assertTrue(SHARED_MEMORY.contains(lane), lane);
        there.kill();
        try (OrdinaryEcho echo = new OrdinaryEcho(server)) {
            assertEquals("socket", here.connect(echo.address(), "mode=ANNOUNCED", ALL_LANES));
        }
    }

    @Test
    void aServerOnAllAddressesOfIpv4IsNotMeantByAnotherOfIpv6() throws Exception {
        assumeTrue(hasIpv6(), "the host has no IPv6");
        try (RemoteSide ipv4 = new RemoteSide("-Djava.net.preferIPv4Stack=true")) {
            int port = Integer.parseInt(ipv4.ask("listen 0.0.0.0 0"));
            awaitReady(Peers.loopback(port));
            String lane = here.connect(Peers.loopback(port), "mode=ANNOUNCED", ALL_LANES);
            assertTrue(SHARED_MEMORY.contains(lane), lane);
            try (OrdinaryEcho echo = new OrdinaryEcho(new InetSocketAddress(InetAddress.ofLiteral("::1"), port))) {
                assertEquals("socket", here.connect(echo.address(), "mode=ANNOUNCED", ALL_LANES));
            }
        }
    }

    /** A server that has just been started may still be loading UCX. A client that goes by announcements soon gives up. */
    private void awaitReady(InetSocketAddress server) throws Exception {
        String lane = here.connect(server, ALL_LANES);
        assertFalse(lane.startsWith("failed"), lane);
    }

    private static boolean hasIpv6() {
        try {
            new ServerSocket(0, 1, InetAddress.ofLiteral("::1")).close();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** A program that knows nothing of this transport: bytes of a handshake would come back, and be found wrong. */
    private static final class OrdinaryEcho implements AutoCloseable {

        private final ServerSocket listening = new ServerSocket();

        OrdinaryEcho(InetSocketAddress address) throws IOException {
            listening.setReuseAddress(true);
            listening.bind(address);
            Thread.ofVirtual().start(() -> {
                try (Socket client = listening.accept()) {
                    client.getInputStream().transferTo(client.getOutputStream());
                } catch (IOException e) {
                    // The client finds out.
                }
            });
        }

        InetSocketAddress address() {
            return (InetSocketAddress) listening.getLocalSocketAddress();
        }

        @Override
        public void close() throws IOException {
            listening.close();
        }
    }
}
