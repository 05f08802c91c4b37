// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.socket.Announcement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Who is asked, and who may ask: by the networks that are named, and by what servers have said so far. */
class NeighboursTest {

    private static final Networks NETWORKS = Networks.parse(" 10.1.0.0/16, 192.0.2.7 ,fd00::/8,");

    private static InetSocketAddress at(String host) {
        return new InetSocketAddress(InetAddress.ofLiteral(host), 4711);
    }

    @ParameterizedTest
    @CsvSource({"10.1.0.0, true", "10.1.255.255, true", "10.2.0.0, false", "10.0.255.255, false", "192.0.2.7, true",
            "192.0.2.6, false", "fd00::1, true", "fdff:1::, true", "fe00::1, false", "::, false", "127.0.0.1, false"})
    void networksContainTheirAddresses(String host, boolean contained) {
        assertEquals(contained, NETWORKS.contain(InetAddress.ofLiteral(host)));
    }

    @ParameterizedTest
    @CsvSource({"0.0.0.0/0, 8.8.8.8, true", "0.0.0.0/0, ::1, false", "128.0.0.0/1, 200.1.1.1, true",
            "128.0.0.0/1, 100.1.1.1, false", "10.1.2.0/23, 10.1.3.255, true", "10.1.2.0/23, 10.1.4.0, false"})
    void aLengthNeedNotBeWholeBytes(String network, String host, boolean contained) {
        assertEquals(contained, Networks.parse(network).contain(InetAddress.ofLiteral(host)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.1.0.0/33", "10.1.0.0/-1", "10.1.0.0/", "10.1/16x", "example.org/8", "fd00::/129", "/8"})
    void whatIsNoNetworkIsNamed(String text) {
        String message = assertThrows(IllegalArgumentException.class, () -> Networks.parse("10.0.0.0/8," + text))
                .getMessage();
        assertTrue(message.contains('\'' + text + '\''), message);
        assertTrue(message.contains("10.1.0.0/16"), message);
    }

    @Test
    void aServerElsewhereIsAskedOnlyInANamedNetwork() {
        assertNull(Neighbours.reasonNotToAsk(at("10.1.2.3"), at("10.1.0.1"), NETWORKS));
        assertNotNull(Neighbours.reasonNotToAsk(at("10.2.2.3"), at("10.1.0.1"), NETWORKS));
        assertNotNull(Neighbours.reasonNotToAsk(at("10.1.2.3"), at("10.1.0.1"), Networks.NONE));
        assertTrue(Neighbours.mayBeAsked(at("10.1.2.3"), NETWORKS));
        assertFalse(Neighbours.mayBeAsked(at("10.1.2.3"), Networks.NONE));
    }

    @Test
    void aServerThatHasNotAnsweredIsNotAskedForAWhile() {
        InetSocketAddress server = at("10.1.77.77");
        assertNull(Neighbours.reasonNotToAsk(server, at("10.1.0.1"), NETWORKS));
        assertEquals(60, Neighbours.hasNotAnswered(server, at("10.1.0.1"), true));
        assertNotNull(Neighbours.reasonNotToAsk(server, at("10.1.0.1"), NETWORKS));
        assertFalse(Neighbours.mayBeAsked(server, NETWORKS));
        // Another port is another server.
        assertNull(Neighbours.reasonNotToAsk(new InetSocketAddress(server.getAddress(), 4712), at("10.1.0.1"), NETWORKS));
    }

    /** Its process is there, and may answer the next one. */
    @Test
    void aServerThatHasAnnouncedItselfIsAskedAgainSoon() throws Exception {
        InetSocketAddress server = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 4713);
        try (Announcement _ = Announcement.open(server)) {
            assertNull(Neighbours.reasonNotToAsk(server, at("127.0.0.1"), Networks.NONE));
            assertEquals(60, Neighbours.hasNotAnswered(server, at("127.0.0.1"), false));
            assertEquals(5, Neighbours.hasNotAnswered(server, at("127.0.0.1"), true));
            assertNotNull(Neighbours.reasonNotToAsk(server, at("127.0.0.1"), Networks.NONE));
        }
    }

    @Test
    void aServerIsSilentForItsTimeOnly() {
        AtomicLong seconds = new AtomicLong(Long.MAX_VALUE / 1_000_000_000);
        SilentServers silent = new SilentServers(() -> seconds.get() * 1_000_000_000);
        silent.add(at("10.1.0.1"), 5);
        seconds.addAndGet(4);
        assertTrue(silent.contain(at("10.1.0.1")));
        assertFalse(silent.contain(at("10.1.0.2")));
        seconds.addAndGet(1);
        assertFalse(silent.contain(at("10.1.0.1")));
    }

    @Test
    void aServerThatIsForgottenMakesRoom() {
        AtomicLong seconds = new AtomicLong();
        SilentServers silent = new SilentServers(() -> seconds.get() * 1_000_000_000);
        for (int port = 1; port <= 5000; port++) {
            silent.add(new InetSocketAddress("10.1.0.1", port), 60);
        }
        assertTrue(silent.contain(new InetSocketAddress("10.1.0.1", 1)));
        assertFalse(silent.contain(new InetSocketAddress("10.1.0.1", 5000)), "more are remembered than there is room for");
        seconds.set(60);
        silent.add(new InetSocketAddress("10.1.0.1", 5000), 60);
        assertTrue(silent.contain(new InetSocketAddress("10.1.0.1", 5000)));
    }

    @Test
    void clientsOfThisHostAndOfNamedNetworksMayAsk() {
        assertTrue(Neighbours.mayAsk(at("127.0.0.1"), at("127.0.0.1"), Networks.NONE));
        assertTrue(Neighbours.mayAsk(at("10.9.0.1"), at("10.9.0.1"), Networks.NONE));
        assertFalse(Neighbours.mayAsk(at("10.9.0.2"), at("10.9.0.1"), Networks.NONE));
        assertFalse(Neighbours.mayAsk(at("10.9.0.2"), at("10.9.0.1"), NETWORKS));
        assertTrue(Neighbours.mayAsk(at("10.1.0.2"), at("10.9.0.1"), NETWORKS));
    }
}
