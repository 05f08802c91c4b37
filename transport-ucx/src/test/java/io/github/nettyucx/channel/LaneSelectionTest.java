// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeException;
import io.github.nettyucx.handshake.HandshakeFailure;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

/** Which lane a connection takes, by what the two sides allow. */
@Tag("ucx-matrix")
class LaneSelectionTest {

    /** No time-out is shorter. */
    private static final long AT_ONCE_MILLIS = 10_000;

    private final Inbox child = new Inbox();
    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    // ------------------------------------------------------------------------------------------- one that both have

    /** Blank: as by default. The server's order counts. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        // server               | client                | lane
        "                       |                       | SHM",
        "shm                    |                       | SHM",
        "                       | shm                   | SHM",
        "socket                 |                       | SOCKET",
        "                       | socket                | SOCKET",
        "tcp,socket             |                       | SOCKET",
        "                       | tcp,socket            | SOCKET",
        "tcp                    | tcp                   | TCP",
        "tcp,shm,socket         | shm,tcp,socket        | TCP",
        "shm,tcp,socket         | tcp,shm,socket        | SHM",
        "socket,shm             | shm,socket            | SOCKET",
        "shm,socket             | socket,shm            | SHM",
        "rdma,socket,shm        | shm,socket            | SOCKET",
        " Shm , SOCKET          |                       | SHM"
    })
    void theServersFirstThatBothHave(String server, String client, Lane expected) throws Exception {
        assumeFalse(hasRdma() && server != null && server.startsWith("rdma"), "this host has an RDMA device");
        UcxServerSocketChannel listening = peers.listen(allowing(peers.server(() -> child), server));
        UcxSocketChannel channel = Peers.connect(allowing(peers.client(new Inbox()), client), listening);
        assertTrue(expected.has(channel.lane()), channel::lane);
        UcxSocketChannel accepted = child.awaitActive();
        assertEquals(channel.lane(), accepted.lane());
        if (expected == Lane.SOCKET) {
            assertEquals(List.of("socket"), channel.transports());
        } else {
            assertTrue(channel.transports().stream().anyMatch(transport -> transport.startsWith(channel.lane())),
                    channel.transports()::toString);
        }
        Peers.await(channel.writeAndFlush(Unpooled.copiedBuffer("there", StandardCharsets.ISO_8859_1)));
        child.awaitText("there");
    }

    private static boolean hasRdma() {
        String[] devices = Path.of("/sys/class/infiniband").toFile().list();
        return devices != null && devices.length > 0;
    }

    private static Bootstrap allowing(Bootstrap client, String lanes) {
        return lanes == null ? client : client.option(UcxChannelOption.LANES, lanes);
    }

    private static ServerBootstrap allowing(ServerBootstrap server, String lanes) {
        return lanes == null ? server : server.childOption(UcxChannelOption.LANES, lanes);
    }

    @Test
    void connectionsOfOneServerCanTakeDifferentLanes() throws Exception {
        UcxServerSocketChannel server = peers.listen(peers.server(Inbox::new)
                .childOption(UcxChannelOption.LANES, "shm,tcp,socket"));
        UcxSocketChannel memory = Peers.connect(allowing(peers.client(new Inbox()), "shm"), server);
        UcxSocketChannel tcp = Peers.connect(allowing(peers.client(new Inbox()), "tcp"), server);
        UcxSocketChannel socket = Peers.connect(allowing(peers.client(new Inbox()), "socket"), server);
        assertTrue(Lane.SHM.has(memory.lane()), memory::lane);
        assertEquals("tcp", tcp.lane());
        assertEquals("socket", socket.lane());
        assertEquals(3, TestLoops.driver(memory.eventLoop()).metrics().lanes().size());
    }

    // ------------------------------------------------------------------------------------------- none

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "shm            | socket            | shm: not offered by the client",
        "socket         | shm               | socket: not offered by the client",
        "shm            | tcp               | shm: not offered by the client",
        "tcp            | shm,rdma,socket   | tcp: not offered by the client"
    })
    void whereTheyHaveNoneInCommonBothAreToldWhy(String server, String client, String reason) throws Exception {
        // Time is taken when UCX is loaded and ready.
        Peers.await(peers.connect(peers.listen(Inbox::new), new Inbox()).close());
        UcxServerSocketChannel listening = peers.listen(allowing(peers.server(() -> child), server));
        long start = System.nanoTime();
        Throwable failure = Peers.awaitFailure(
                allowing(peers.client(new Inbox()), client).connect(listening.localAddress()));
        assertTrue(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) < AT_ONCE_MILLIS, "told late");
        assertSame(HandshakeFailure.NO_COMMON_LANE, assertInstanceOf(HandshakeException.class, failure).reason());
        assertTrue(failure.getMessage().contains(reason), failure::getMessage);
        assertTrue(failure.getMessage().contains(listening.localAddress().toString()), failure::getMessage);
        UcxMetrics metrics = TestLoops.driver(TestLoops.first(peers.serverGroup)).metrics();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(15);
        while (metrics.handshakesFailed() == 0 && System.nanoTime() - deadline < 0) {
            metrics = TestLoops.driver(TestLoops.first(peers.serverGroup)).metrics();
        }
        assertEquals(1, metrics.handshakesFailed(HandshakeFailure.NO_COMMON_LANE));
        assertEquals(0, metrics.strangersTurnedAway(), "it was no stranger");
        assertTrue(!child.isConnected());
    }

    @Test
    void whatThisSideCannotHaveIsSaidByThisSide() throws Exception {
        assumeFalse(hasRdma(), "this host has an RDMA device");
        UcxServerSocketChannel server = peers.listen(() -> child);
        String reason = "rdma: this host has no RDMA device";
        assertTells(reason, allowing(peers.client(new Inbox()), "rdma"), server);
        UcxServerSocketChannel requiring = peers.listen(allowing(peers.server(() -> child), "rdma"));
        assertTells(reason, peers.client(new Inbox()), requiring);
        // Neither the failed attempts nor their reasons are in the way of others.
        Peers.connect(peers.client(new Inbox()), server);
    }

    private static void assertTells(String reason, Bootstrap client, UcxServerSocketChannel server) throws Exception {
        Throwable failure = Peers.awaitFailure(client.connect(server.localAddress()));
        assertTrue(failure.getMessage().contains(reason), failure::getMessage);
    }

    @Test
    void aListThatIsNoneIsToldAtOnce() {
        UcxSocketChannel channel = new UcxSocketChannel();
        for (String list : new String[] {"", ",", "shm,", "shm,shm", "roce", "shm socket"}) {
            Throwable failure = assertThrows(IllegalArgumentException.class,
                    () -> channel.config().setOption(UcxChannelOption.LANES, list), list);
            assertTrue(failure.getMessage().contains("shm, rdma, tcp, socket"), failure::getMessage);
        }
        assertEquals("shm,rdma,socket", channel.config().getOption(UcxChannelOption.LANES));
    }
}
