// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;

import static io.github.nettyucx.handshake.TestTerms.CLIENT_ADDRESS;
import static io.github.nettyucx.handshake.TestTerms.SERVER_ADDRESS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

class LaneChoiceTest {

    private final TestTerms server = TestTerms.server();
    private final TestTerms client = TestTerms.client();

    /** The server's order decides, among what both allow. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        // server         | client             | taken  | why none of those before it
        "shm,rdma,socket  | shm,rdma,socket    | shm    |",
        "shm,rdma,socket  | socket,rdma,shm    | shm    |",
        "rdma,shm,socket  | shm,rdma,socket    | rdma   |",
        "socket,shm       | shm,socket         | socket |",
        "tcp,socket       | shm,tcp            | tcp    |",
        "shm              | shm                | shm    |",
        "shm,rdma,socket  | rdma,socket        | rdma   | shm: not offered by the client",
        "shm,rdma,socket  | tcp,socket         | socket | shm: not offered by the client;"
                + "rdma: not offered by the client",
        "shm,rdma         | socket             |        | shm: not offered by the client;"
                + "rdma: not offered by the client",
        "socket           | shm                |        | socket: not offered by the client",
    })
    void takesTheServersFirstThatBothAllow(String serves, String connects, String taken, String reasons) {
        server.lanes(serves);
        client.lanes(connects);
        assertChoice(taken, reasons == null ? new String[0] : reasons.split(";"));
    }

    @Test
    void takesNoLaneThatIsNotAvailable() {
        server.without(LaneKind.SHM, "/dev/shm is full");
        client.without(LaneKind.RDMA, "no device");
        assertChoice("socket", "shm: /dev/shm is full", "rdma: not offered by the client");
    }

    @Test
    void saysSomethingOfALaneThatNobodyGaveAReasonFor() {
        Terms terms = new Terms(LaneSet.DEFAULT, 0, Map.of(), TestTerms.UCX_1_22_0, TestTerms.SERVER, null,
                false, 1, Hello.MIN_WINDOW, 1, SERVER_ADDRESS, CLIENT_ADDRESS, new FakeNearness());
        LaneChoice choice = LaneChoice.of(terms, client.hello());
        assertEquals(LaneKind.SOCKET, choice.lane(), "which is always available");
        assertEquals(List.of("shm: not available at the server", "rdma: not available at the server"),
                choice.reasons());
    }

    /** The client is at host 17 with namespaces 34, 51 and 68. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "17 | 34 | 51 | 68 | shm  |",
        "17 | 34 | 51 | 0  | rdma | in different PID namespaces",
        "17 | 34 | 0  | 68 | rdma | in different IPC namespaces",
        "17 | 34 | 0  | 0  | rdma | in different IPC namespaces",
        "17 | 0  | 51 | 68 | rdma | in different network namespaces",
        "0  | 34 | 51 | 68 | rdma | on different hosts",
        "0  | 0  | 0  | 0  | rdma | on different hosts",
    })
    void takesSharedMemoryBetweenNeighbours(long host, long network, long ipc, long pid, String taken, String why) {
        server.process(host, network, ipc, pid);
        assertChoice(taken, why == null ? new String[0] : new String[] {"shm: " + why});
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "0x01160000 | 0x01160000 | shm    |",
        "0x01160000 | 0x01160007 | shm    |",
        "0x01160000 | 0x01150000 | socket | the server has UCX 1.22.0, the client 1.21.0",
        "0x01160000 | 0x02160000 | socket | the server has UCX 1.22.0, the client 2.22.0",
        "0x01160000 | 0          | socket | the server has UCX 1.22.0, the client none",
        "0          | 0          | socket | the server has UCX none, the client none",
    })
    void takesALaneOfUcxWithTheSameUcx(int serves, int connects, String taken, String why) {
        server.lanes("shm,rdma,tcp,socket").ucx(serves);
        client.lanes("shm,rdma,tcp,socket").ucx(connects);
        assertChoice(taken, why == null
                ? new String[0] : new String[] {"shm: " + why, "rdma: " + why, "tcp: " + why});
    }

    @Test
    void takesNoLaneOfUcxPastAProxy() {
        InetSocketAddress proxy = new InetSocketAddress("10.9.9.9", 5555);
        server.lanes("shm,rdma,tcp,socket").addresses(SERVER_ADDRESS, proxy);
        client.lanes("shm,rdma,tcp,socket");
        String why = "the two sides see different addresses: the server has 10.1.2.4:8080 and 10.9.9.9:5555,"
                + " the client has 10.1.2.4:40000 and 10.1.2.4:8080";
        assertChoice("socket", "shm: " + why, "rdma: " + why, "tcp: " + why);
        client.translatedAddresses();
        assertChoice("socket", "shm: " + why, "rdma: " + why, "tcp: " + why);
        server.translatedAddresses();
        assertChoice("shm");
    }

    @Test
    void takesNoLaneOfUcxWhereTheServersAddressIsAnother() {
        client.addresses(CLIENT_ADDRESS, new InetSocketAddress("2001:db8::1", 80)).lanes("shm,socket");
        server.lanes("shm,socket");
        assertChoice("socket", "shm: the two sides see different addresses: the server has 10.1.2.4:8080 and"
                + " 10.1.2.4:40000, the client has 10.1.2.4:40000 and [2001:db8:0:0:0:0:0:1]:80");
    }

    @Test
    void takesNoLaneOfUcxWhereOnlyThePortIsAnother() {
        client.addresses(new InetSocketAddress(CLIENT_ADDRESS.getAddress(), 1), SERVER_ADDRESS).lanes("shm,socket");
        server.lanes("shm,socket");
        assertChoice("socket", "shm: the two sides see different addresses: the server has 10.1.2.4:8080 and"
                + " 10.1.2.4:40000, the client has 10.1.2.4:1 and 10.1.2.4:8080");
    }

    @Test
    void takesNoLaneOfUcxWhereAddressesAreNotKnown() {
        client.addresses(null, null).lanes("shm,socket");
        server.addresses(null, null).lanes("shm,socket");
        assertChoice("socket", "shm: the two sides see different addresses: the server has an unknown one and an"
                + " unknown one, the client has an unknown one and an unknown one");
    }

    @Test
    void seesNoDifferenceInWhatEachSideCountsForItself() throws UnknownHostException {
        byte[] linkLocal = HandshakeFixture.hex("fe800000000000000000000000000001");
        server.addresses(scoped(linkLocal, 2, 80), scoped(linkLocal, 2, 5000));
        client.addresses(scoped(linkLocal, 7, 5000), scoped(linkLocal, 7, 80));
        assertChoice("shm");
    }

    private static InetSocketAddress scoped(byte[] address, int scope, int port) throws UnknownHostException {
        return new InetSocketAddress(Inet6Address.getByAddress(null, address, scope), port);
    }

    @Test
    void seesNoDifferenceBetweenIpv4AndIpv4WithinIpv6() throws Exception {
        InetAddress mapped = InetAddress.getByAddress(HandshakeFixture.hex("00000000000000000000ffff0a010204"));
        server.addresses(SERVER_ADDRESS, new InetSocketAddress(mapped, 40_000));
        assertChoice("shm");
    }

    private void assertChoice(String lane, String... reasons) {
        LaneChoice choice = LaneChoice.of(server.build(), decoded(client.hello()));
        if (lane == null) {
            assertNull(choice.lane());
        } else {
            assertEquals(lane, choice.lane().toString());
        }
        assertEquals(List.of(reasons), choice.reasons());
    }

    /** As it comes from the wire. */
    private static Hello decoded(Hello hello) {
        ByteBuf bytes = Unpooled.buffer();
        hello.encode(bytes, Hello.LENGTH);
        try {
            return Hello.decode(bytes, Side.CLIENT);
        } catch (HandshakeException e) {
            throw new AssertionError(e);
        }
    }
}
