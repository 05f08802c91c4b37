// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How connections are made, and what addresses they have. */
@Timeout(60)
class KernelSocketTest {

    private static final InetAddress IPV4 = address("127.0.0.1");
    /** Set aside for documents: no machine has it. */
    private static final InetAddress NOBODYS = address("203.0.113.1");

    private static InetAddress address(String text) {
        return InetAddress.ofLiteral(text);
    }

    @Test
    void aConnectionOverIpv4HasItsAddressesOnBothSides() throws Exception {
        aConnectionHasItsAddressesOnBothSides(IPV4);
    }

    @Test
    void aConnectionOverIpv6HasItsAddressesOnBothSides() throws Exception {
        aConnectionHasItsAddressesOnBothSides(SocketPair.ipv6Loopback());
    }

    private static void aConnectionHasItsAddressesOnBothSides(InetAddress host) throws Exception {
        try (SocketPair pair = SocketPair.open(host)) {
            assertEquals(host, pair.client.remoteAddress().getAddress());
            assertEquals(pair.client.localAddress(), pair.server.remoteAddress());
            assertEquals(pair.server.localAddress(), pair.client.remoteAddress());
            pair.send(pair.client, "there");
            assertEquals("there", pair.receive(pair.server, 5));
            pair.send(pair.server, "and back");
            assertEquals("and back", pair.receive(pair.client, 8));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "::"})
    void aWildcardTakesBothFamiliesAndIpv4AddressesComeOutAsSuch(String wildcard) throws Exception {
        InetAddress ipv6 = SocketPair.ipv6Loopback();
        try (KernelSocket listener = SocketPair.listener(new InetSocketAddress(address(wildcard), 0));
                KernelSocket six = KernelSocket.stream(true);
                KernelSocket four = KernelSocket.stream(false);
                KernelSocket fourByDualStack = KernelSocket.stream(true)) {
            assertTrue(listener.isIpv6());
            assertEquals(new InetSocketAddress("::", listener.localAddress().getPort()), listener.localAddress());
            int port = listener.localAddress().getPort();

            SocketPair.connect(six, new InetSocketAddress(ipv6, port));
            try (KernelSocket accepted = SocketPair.accept(listener)) {
                assertInstanceOf(Inet6Address.class, accepted.remoteAddress().getAddress());
                assertEquals(six.localAddress(), accepted.remoteAddress());
            }
            SocketPair.connect(four, new InetSocketAddress(IPV4, port));
            try (KernelSocket accepted = SocketPair.accept(listener)) {
                assertTrue(accepted.isIpv6());
                assertInstanceOf(Inet4Address.class, accepted.remoteAddress().getAddress());
                assertEquals(four.localAddress(), accepted.remoteAddress());
                assertEquals(new InetSocketAddress(IPV4, port), accepted.localAddress());
            }
            SocketPair.connect(fourByDualStack, new InetSocketAddress(IPV4, port));
            try (KernelSocket accepted = SocketPair.accept(listener)) {
                assertEquals(fourByDualStack.localAddress(), accepted.remoteAddress());
                assertEquals(new InetSocketAddress(IPV4, port), fourByDualStack.remoteAddress());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aConnectionToAWildcardGetsToTheMachineItself(boolean ipv6) throws Exception {
        if (ipv6) {
            SocketPair.ipv6Loopback();
        }
        try (KernelSocket listener = SocketPair.listener(new InetSocketAddress(IPV4, 0));
                KernelSocket client = KernelSocket.stream(ipv6)) {
            SocketPair.connect(client, new InetSocketAddress(address("0.0.0.0"), listener.localAddress().getPort()));
            SocketPair.accept(listener).close();
        }
    }

    @Test
    void aScopeIsKept() throws Exception {
        Inet6Address linkLocal = linkLocal();
        Assumptions.assumeTrue(linkLocal != null, "no interface with a link-local address");
        try (KernelSocket listener = SocketPair.listener(new InetSocketAddress(linkLocal, 0));
                KernelSocket client = KernelSocket.stream(true)) {
            assertScope(linkLocal, listener.localAddress());
            SocketPair.connect(client, listener.localAddress());
            assertScope(linkLocal, client.localAddress());
            assertScope(linkLocal, client.remoteAddress());
            try (KernelSocket accepted = SocketPair.accept(listener)) {
                assertScope(linkLocal, accepted.remoteAddress());
            }
        }
    }

    private static Inet6Address linkLocal() throws SocketException {
        return NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
                .filter(InetAddress::isLinkLocalAddress).filter(Inet6Address.class::isInstance)
                .map(Inet6Address.class::cast).findFirst().orElse(null);
    }

    private static void assertScope(Inet6Address expected, InetSocketAddress actual) {
        assertEquals(expected, actual.getAddress());
        assertEquals(expected.getScopeId(), ((Inet6Address) actual.getAddress()).getScopeId());
    }

    @Test
    void aSocketForIpv6AloneDoesNotTakeIpv4() throws Exception {
        SocketPair.ipv6Loopback();
        try (KernelSocket listener = KernelSocket.stream(true); KernelSocket client = KernelSocket.stream(false)) {
            listener.set(SocketSetting.V6_ONLY, 1);
            listener.bind(new InetSocketAddress(address("::"), 0));
            listener.listen(1);
            InetSocketAddress remote = new InetSocketAddress(IPV4, listener.localAddress().getPort());
            assertThrows(ConnectException.class, () -> SocketPair.connect(client, remote));
        }
    }

    @Test
    void aConnectionThatIsBeingMadeIsNoneYet() throws Exception {
        List<KernelSocket> clients = new ArrayList<>();
        try (KernelSocket listener = KernelSocket.stream(false)) {
            listener.bind(new InetSocketAddress(IPV4, 0));
            listener.listen(0);
            clients.add(KernelSocket.stream(false));
            SocketPair.connect(clients.getFirst(), listener.localAddress());
            boolean connected = true;
            // Nobody accepts: the kernel ignores those who come when a few are waiting.
            while (connected && clients.size() < 10) {
                KernelSocket client = KernelSocket.stream(false);
                clients.add(client);
                connected = client.connect(listener.localAddress()) || client.finishConnect();
            }
            assertFalse(connected);
        } finally {
            clients.forEach(KernelSocket::close);
        }
    }

    @Test
    void aRefusedConnectionSaysSo() throws Exception {
        int port;
        try (KernelSocket bound = KernelSocket.stream(false); KernelSocket client = KernelSocket.stream(false)) {
            // Bound, and not listening: nobody else gets the port meanwhile.
            bound.bind(new InetSocketAddress(IPV4, 0));
            port = bound.localAddress().getPort();
            ConnectException refused = assertThrows(ConnectException.class,
                    () -> SocketPair.connect(client, new InetSocketAddress(IPV4, port)));
            assertEquals("Connection refused", refused.getMessage());
            assertThrows(SocketException.class, client::remoteAddress);
        }
    }

    @Test
    void anAddressInUseOrNobodysIsRefused() throws Exception {
        try (KernelSocket listener = SocketPair.listener(new InetSocketAddress(IPV4, 0));
                KernelSocket other = KernelSocket.stream(false)) {
            BindException inUse = assertThrows(BindException.class, () -> other.bind(listener.localAddress()));
            assertEquals("Address already in use", inUse.getMessage());
            InetSocketAddress nobodys = new InetSocketAddress(NOBODYS, 0);
            BindException notOurs = assertThrows(BindException.class, () -> other.bind(nobodys));
            assertEquals("Cannot assign requested address", notOurs.getMessage());
        }
    }

    @Test
    void twoSocketsListenOnOnePortIfBothWantTo() throws Exception {
        try (KernelSocket one = KernelSocket.stream(false); KernelSocket other = KernelSocket.stream(false)) {
            one.set(SocketSetting.REUSE_PORT, 1);
            other.set(SocketSetting.REUSE_PORT, 1);
            one.bind(new InetSocketAddress(IPV4, 0));
            other.bind(one.localAddress());
            one.listen(1);
            other.listen(1);
            assertEquals(one.localAddress(), other.localAddress());
        }
    }

    @Test
    void whereNobodyWaitsNobodyIsAccepted() throws Exception {
        try (KernelSocket listener = SocketPair.listener(new InetSocketAddress(IPV4, 0))) {
            assertNull(listener.accept());
        }
    }

    @Test
    void acceptingWithoutListeningIsAnError() throws Exception {
        try (KernelSocket socket = KernelSocket.stream(false); KernelSocket datagrams = KernelSocket.datagram(false)) {
            assertEquals("accept failed: Invalid argument",
                    assertThrows(IOException.class, socket::accept).getMessage());
            assertEquals("accept failed: Operation not supported",
                    assertThrows(IOException.class, datagrams::accept).getMessage());
        }
    }

    @Test
    void whoeverIsGoneBeforeHeIsAcceptedIsKnownAllTheSame() throws Exception {
        try (KernelSocket listener = SocketPair.listener(new InetSocketAddress(IPV4, 0));
                SocketPair other = SocketPair.open()) {
            KernelSocket client = KernelSocket.stream(false);
            SocketPair.connect(client, listener.localAddress());
            InetSocketAddress address = client.localAddress();
            client.resetOnClose();
            client.close();
            try (KernelSocket accepted = SocketPair.accept(listener)) {
                SocketPair.await(accepted, Epoll.IN);
                assertEquals(-Errno.ECONNRESET, accepted.receive(other.memory(1).address(), 1));
                assertEquals(address, accepted.remoteAddress());
            }
        }
    }

    @Test
    void anUnresolvedAddressIsRefused() throws Exception {
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("nobody.invalid", 1);
        try (KernelSocket socket = KernelSocket.stream(false)) {
            assertEquals("nobody.invalid",
                    assertThrows(UnknownHostException.class, () -> socket.connect(unresolved)).getMessage());
            assertThrows(UnknownHostException.class, () -> socket.bind(unresolved));
        }
    }

    @Test
    void anIpv4SocketTakesNoIpv6AddressButItsWildcard() throws Exception {
        try (KernelSocket socket = KernelSocket.stream(false)) {
            InetSocketAddress loopback = new InetSocketAddress(address("::1"), 1);
            assertEquals("Address family not supported by protocol",
                    assertThrows(SocketException.class, () -> socket.connect(loopback)).getMessage());
            socket.bind(new InetSocketAddress(address("::"), 0));
            assertEquals(address("0.0.0.0"), socket.localAddress().getAddress());
        }
    }

    @Test
    void whichFamilyAnAddressNeeds() {
        assertFalse(KernelSocket.needsIpv6(IPV4));
        assertTrue(KernelSocket.needsIpv6(address("::1")));
        assertEquals(KernelSocket.isIpv6Available(), KernelSocket.needsIpv6(address("::")));
        assertEquals(KernelSocket.isIpv6Available(), KernelSocket.needsIpv6(address("0.0.0.0")));
    }

    @Test
    void nothingThatIsOpenBlocksOrIsInherited() throws Exception {
        try (SocketPair pair = SocketPair.open(); KernelSocket datagrams = KernelSocket.datagram(false);
                Pipe pipe = Pipe.open()) {
            int flags = SocketConstants.O_NONBLOCK | SocketConstants.O_CLOEXEC;
            for (int fd : new int[] {
                    pair.client.fd(), pair.server.fd(), datagrams.fd(), pipe.readFd(), pipe.writeFd()}) {
                assertEquals(flags, flags(fd) & flags, "descriptor " + fd);
            }
        }
    }

    private static int flags(int fd) throws IOException {
        Optional<String> line = Files.readAllLines(Path.of("/proc/self/fdinfo", Integer.toString(fd))).stream()
                .filter(text -> text.startsWith("flags:")).findFirst();
        return Integer.parseInt(line.orElseThrow().substring("flags:".length()).trim(), 8);
    }

    @Test
    void aClosedSocketKnowsNothing() throws Exception {
        SocketPair pair = SocketPair.open();
        KernelSocket closed = pair.server;
        InetSocketAddress remote = pair.client.localAddress();
        closed.close();
        closed.close();
        assertFalse(closed.isOpen());
        assertEquals(-1, closed.fd());
        long memory = pair.memory(8).address();
        assertEquals(-Errno.EBADF, closed.receive(memory, 8));
        assertEquals(-Errno.EBADF, closed.peek(memory, 8));
        assertEquals(-Errno.EBADF, closed.send(memory, 8));
        assertEquals(-Errno.EBADF, closed.sendTo(memory, 8, remote));
        assertEquals(-Errno.EBADF, closed.receiveFrom(memory, 8));
        assertEquals(-Errno.EBADF, closed.unsent());
        assertEquals(Errno.EBADF, closed.pendingError());
        try (IoVector vector = new IoVector(1)) {
            vector.set(0, memory, 8);
            assertEquals(-Errno.EBADF, closed.sendVector(vector, 1));
        }
        assertThrows(IOException.class, closed::remoteAddress);
        assertThrows(IOException.class, closed::localAddress);
        assertThrows(IOException.class, () -> closed.get(SocketSetting.NO_DELAY));
        pair.close();
    }

    /** A peer that sends nothing for 25 days, and acknowledges. */
    @Test
    void howLongAPeerIsSilentHasNoSign() {
        assertEquals(31_000, KernelSocket.silentMillis(0x80000001, 31_000));
        assertEquals(31_000, KernelSocket.silentMillis(31_000, 0xffffffff));
        assertEquals(Integer.MAX_VALUE, KernelSocket.silentMillis(0x80000001, 0x80000002));
        assertEquals(0, KernelSocket.silentMillis(0, 7));
    }
}
