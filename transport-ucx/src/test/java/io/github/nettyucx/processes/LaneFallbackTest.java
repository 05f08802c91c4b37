// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.processes;

import io.github.nettyucx.channel.Forwarder;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.Ucx;
import io.github.nettyucx.faults.Hosts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Two processes of one host that cannot share memory, for each of the reasons that there are: their connections take the
 * next lane, mostly the socket, and say why; if shared memory is required, they fail and say why.
 */
class LaneFallbackTest {

    private static final String ALL_LANES = "lanes=shm,rdma,socket";

    private Side here;

    @BeforeEach
    void start() {
        here = new Side();
    }

    @AfterEach
    void end() {
        here.close();
    }

    // ------------------------------------------------------------------------------------------- one side lacks it

    @Test
    void noneOfUcxsTransportsForItIsAllowed() throws Exception {
        try (RemoteSide there = new RemoteSide("-Dio.github.nettyucx.tls=tcp")) {
            assertLacks(there, "shm: none of its transports is allowed by io.github.nettyucx.tls or UCX_TLS (tcp)");
        }
    }

    @Test
    void thereIsNoUcx() throws Exception {
        try (RemoteSide there = new RemoteSide("-Dio.github.nettyucx.library=/nowhere")) {
            assertTrue(there.ask("ucx").startsWith("none: java.lang.UnsatisfiedLinkError"), there.ask("ucx"));
            assertLacks(there, "/nowhere");
            assertEquals("0 workers, 0 endpoints", there.ask("metrics"));
        }
    }

    @Test
    void neitherSideHasUcx() throws Exception {
        try (RemoteSide server = new RemoteSide("-Dio.github.nettyucx.library=/nowhere");
             RemoteSide client = new RemoteSide("-Dio.github.nettyucx.library=/nowhere")) {
            assertEquals("socket", client.connect(server.listen()));
            assertSaidOnce(client, "/nowhere", 1);
            assertSaidOnce(server, "/nowhere", 1);
        }
    }

    /** The other side knows only that it was not offered. */
    private void assertLacks(RemoteSide there, String reason) throws Exception {
        InetSocketAddress server = here.listen(Peers.loopback(0), ALL_LANES);
        assertEquals("socket", there.connect(server));
        assertEquals("socket", there.connect(server));
        assertSaidOnce(there, reason, 2);
        InetSocketAddress other = there.listen();
        assertEquals("socket", here.connect(other, ALL_LANES));
        assertSaidOnce(there, reason, 3);
        assertFails(there.connect(server, "lanes=shm"), reason);
        assertFails(here.connect(other, "lanes=shm"), reason);
        assertFails(here.connect(there.listen("lanes=shm"), ALL_LANES), reason);
        assertFails(there.connect(here.listen(Peers.loopback(0), "lanes=shm"), ALL_LANES),
                reason);
        assertEquals("socket", there.connect(server), "afterwards");
    }

    // ------------------------------------------------------------------------------------------- both have it

    @Test
    void thereIsAnotherReleaseOfUcx() throws Exception {
        Path old = Path.of(System.getProperty("io.github.nettyucx.test.ucx.1.16"));
        assumeTrue(Files.isDirectory(old), "the build could not download UCX 1.16");
        assumeTrue(!Ucx.version().startsWith("1.16."), "the same as here");
        try (RemoteSide there = new RemoteSide("-Dio.github.nettyucx.library=" + old)) {
            assertEquals("1.16.0", there.ask("ucx"));
            assertApart(there, "1.16.0");
        }
    }

    @Test
    void thereAreNoSegmentsAndNoRoomForFiles() throws Exception {
        List<String> full = Namespaces.prepared(
                "mount -t tmpfs -o size=4k tmpfs /dev/shm && echo 0 > /proc/sys/kernel/shmmni");
        try (RemoteSide there = new RemoteSide(full)) {
            assertApart(there, "shm: ");
        }
    }

    @Test
    void thereIsNoRoomInTheContainersMemory() throws Exception {
        List<String> small = Namespaces.prepared(
                "mount -t tmpfs -o size=64k tmpfs /dev/shm && echo 1 > /proc/sys/kernel/shmall");
        try (RemoteSide there = new RemoteSide(small)) {
            assertApart(there, "shm: ");
        }
    }

    @Test
    void theOtherIsAnotherUser() throws Exception {
        try (RemoteSide there = new RemoteSide(Namespaces.asNobody(), "-XX:-UsePerfData")) {
            assertApart(there, "shm: ");
        }
    }

    /** Each side has said that it has shared memory: that they cannot share it turns out when one of them attaches. */
    @Test
    void theNextLaneIsOneOfUcxToo() throws Exception {
        String lanes = "lanes=shm,tcp,socket";
        try (RemoteSide there = new RemoteSide(Namespaces.asNobody(), "-XX:-UsePerfData")) {
            InetSocketAddress server = here.listen(Peers.loopback(0), lanes);
            // Who has another lane left waits less for what crosses a link.
            for (int i = 0; i < 2; i++) {
                assertEquals("tcp", there.connect(server, "lanes=shm,tcp"));
            }
            assertSaidOnce(there, "shm: ", 2);
            InetSocketAddress other = there.listen(lanes);
            for (int i = 0; i < 2; i++) {
                assertEquals("tcp", here.connect(other, "lanes=shm,tcp"));
            }
            assertEquals(4, connectionsWith(there.log(), "shm: "));
            assertEquals("socket", there.connect(server, "lanes=shm,socket,tcp"), "of the client's order");
            assertFails(there.connect(server, "lanes=shm"), "shm: ");
        }
    }

    /** UCX would need both namespaces, whatever the kind of shared memory. */
    @Test
    void theOtherHasAnIpcNamespaceOfItsOwn() throws Exception {
        try (RemoteSide there = new RemoteSide(Namespaces.unshare("--ipc"))) {
            assertApart(there, "shm: in different IPC namespaces");
        }
    }

    @Test
    void theOtherHasAPidNamespaceOfItsOwn() throws Exception {
        try (RemoteSide there = new RemoteSide(Namespaces.unshare("--pid", "--mount-proc"))) {
            assertApart(there, "shm: in different PID namespaces");
        }
    }

    @Test
    void theOtherIsInAContainerOfItsOwnOnTheHostsNetwork() throws Exception {
        try (RemoteSide there = new RemoteSide(Namespaces.unshare("--ipc", "--pid", "--mount-proc", "--user",
                "--map-root-user"))) {
            assertApart(there, "shm: in different IPC namespaces");
        }
    }

    /** Nobody promises which lane that is: what belongs to one user there can be another's here. */
    @Test
    void theOtherHasAUserNamespaceOfItsOwn() throws Exception {
        try (RemoteSide there = new RemoteSide(Namespaces.unshare("--user", "--map-root-user"))) {
            List<String> lanes = List.of("sysv", "posix", "socket");
            String connected = there.connect(here.listen(Peers.loopback(0), ALL_LANES));
            assertTrue(lanes.contains(connected), connected);
            String accepted = here.connect(there.listen(), ALL_LANES);
            assertTrue(lanes.contains(accepted), accepted);
        }
    }

    @Test
    void theOtherIsInAContainerWithANetworkOfItsOwn() throws Exception {
        String problem = Hosts.whyNot();
        if (problem != null) {
            System.out.println("NOT RUN: two hosts: " + problem);
        }
        assumeTrue(problem == null, problem);
        try (Hosts hosts = new Hosts();
             RemoteSide server = new RemoteSide(hosts.left().launcher());
             RemoteSide client = new RemoteSide(hosts.right().launcher())) {
            int port = Integer.parseInt(server.ask("listen " + hosts.left().address() + " 0"));
            InetSocketAddress address = new InetSocketAddress(hosts.left().address(), port);
            String reason = "shm: in different network namespaces";
            assertEquals("socket", client.connect(address));
            assertSaidOnce(client, reason, 1);
            assertSaidOnce(server, reason, 1);
            assertFails(client.connect(address, "lanes=shm"), reason);
        }
    }

    /** The ports that it names are others each time; that is no reason to repeat it. */
    @Test
    void somethingBetweenThemTranslatesAddresses() throws Exception {
        try (RemoteSide there = new RemoteSide();
             Forwarder forwarder = new Forwarder(here.listen(Peers.loopback(0), ALL_LANES, "translated=true"))) {
            for (int i = 0; i < 3; i++) {
                assertEquals("socket", there.connect(forwarder.address()));
            }
            assertSaidOnce(there, "shm: the two sides see different addresses", 3);
            assertNotEquals("socket", there.connect(forwarder.address(), "translated=true"));
        }
    }

    private void assertApart(RemoteSide there, String reason) throws Exception {
        InetSocketAddress server = here.listen(Peers.loopback(0), ALL_LANES);
        assertEquals("socket", there.connect(server));
        assertEquals("socket", there.connect(server));
        assertSaidOnce(there, reason, 2);
        InetSocketAddress other = there.listen();
        assertEquals("socket", here.connect(other, ALL_LANES));
        assertFails(there.connect(server, "lanes=shm"), reason);
        assertFails(here.connect(other, "lanes=shm"), reason);
        assertFails(here.connect(there.listen("lanes=shm"), ALL_LANES), reason);
        assertFails(there.connect(here.listen(Peers.loopback(0), "lanes=shm"), ALL_LANES), reason);
        assertEquals("socket", there.connect(server), "afterwards");
        assertEquals("socket", here.connect(other, ALL_LANES), "afterwards");
        assertEquals(5, connectionsWith(there.log(), reason));
    }

    private static void assertFails(String result, String reason) {
        assertTrue(result.startsWith("failed: ") && result.contains(reason), result);
    }

    /** @param connections how many of it a line of DEBUG has to tell */
    private static void assertSaidOnce(RemoteSide side, String reason, int connections) throws Exception {
        List<String> log = side.log();
        assertEquals(1, log.stream().filter(line -> line.startsWith("INFO ") && line.contains(reason)).count(),
                () -> "in " + log);
        assertEquals(connections, connectionsWith(log, reason), () -> "in " + log);
        assertFalse(log.stream().anyMatch(line -> line.startsWith("WARN")), () -> "in " + log);
    }

    private static long connectionsWith(List<String> log, String reason) {
        return log.stream().filter(line -> line.startsWith("DEBUG [") && line.contains(reason)).count();
    }
}
