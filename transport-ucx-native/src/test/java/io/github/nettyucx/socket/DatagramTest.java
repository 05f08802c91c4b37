// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class DatagramTest {

    private static final InetAddress IPV4 = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress IPV6 = InetAddress.ofLiteral("::1");

    private final MemorySegment memory = Arena.ofAuto().allocate(1 << 17);

    private static KernelSocket bound(InetAddress host) throws IOException {
        KernelSocket socket = KernelSocket.datagram(KernelSocket.needsIpv6(host));
        socket.bind(new InetSocketAddress(host, 0));
        return socket;
    }

    private void send(KernelSocket from, String text, InetSocketAddress to) {
        assertEquals(text.length(), from.sendTo(write(text), text.length(), to));
    }

    private long write(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return memory.address();
    }

    private String receive(KernelSocket socket) throws IOException {
        SocketPair.await(socket, Epoll.IN);
        return SocketPair.text(memory, socket.receiveFrom(memory.address(), (int) memory.byteSize()));
    }

    @Test
    void datagramsGoOverIpv4() throws IOException {
        datagramsGoAndComeBack(IPV4);
    }

    @Test
    void datagramsGoOverIpv6() throws IOException {
        SocketPair.ipv6Loopback();
        datagramsGoAndComeBack(IPV6);
    }

    private void datagramsGoAndComeBack(InetAddress host) throws IOException {
        try (KernelSocket one = bound(host); KernelSocket other = bound(host)) {
            assertNull(other.lastSender());
            assertEquals(-Errno.EAGAIN, other.receiveFrom(memory.address(), 1));
            send(one, "there", other.localAddress());
            assertEquals("there", receive(other));
            assertEquals(one.localAddress(), other.lastSender());
            send(other, "back", other.lastSender());
            assertEquals("back", receive(one));
            assertEquals(other.localAddress(), one.lastSender());
            send(one, "", other.localAddress());
            assertEquals("", receive(other));
        }
    }

    @Test
    void aSocketOfBothFamiliesSpeaksWithBoth() throws IOException {
        SocketPair.ipv6Loopback();
        try (KernelSocket both = bound(InetAddress.ofLiteral("::")); KernelSocket four = bound(IPV4);
                KernelSocket six = bound(IPV6)) {
            int port = both.localAddress().getPort();
            send(four, "4", new InetSocketAddress(IPV4, port));
            assertEquals("4", receive(both));
            assertEquals(four.localAddress(), both.lastSender());
            send(both, "to 4", four.localAddress());
            assertEquals("to 4", receive(four));
            assertEquals(new InetSocketAddress(IPV4, port), four.lastSender());
            send(six, "6", new InetSocketAddress(IPV6, port));
            assertEquals("6", receive(both));
            assertEquals(six.localAddress(), both.lastSender());
            send(both, "to 6", six.localAddress());
            assertEquals("to 6", receive(six));
        }
    }

    @Test
    void aSenderWhoIsKnownIsTheSameObject() throws IOException {
        try (KernelSocket one = bound(IPV4); KernelSocket other = bound(IPV4)) {
            send(one, "1", other.localAddress());
            assertEquals("1", receive(other));
            InetSocketAddress first = other.lastSender();
            send(one, "2", other.localAddress());
            assertEquals("2", receive(other));
            assertSame(first, other.lastSender());
        }
    }

    @Test
    void whatDoesNotFitIsLost() throws IOException {
        try (KernelSocket one = bound(IPV4); KernelSocket other = bound(IPV4)) {
            send(one, "too long", other.localAddress());
            send(one, "next", other.localAddress());
            SocketPair.await(other, Epoll.IN);
            assertEquals(3, other.receiveFrom(memory.address(), 3));
            assertEquals("next", receive(other));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "0.0.0.0"})
    void aConnectedSocketHasOnePeerUntilItIsDisconnected(String host) throws IOException {
        try (KernelSocket one = bound(InetAddress.ofLiteral(host)); KernelSocket other = bound(IPV4);
                KernelSocket third = bound(IPV4)) {
            InetSocketAddress local = one.localAddress();
            one.connect(other.localAddress());
            assertEquals(other.localAddress(), one.remoteAddress());
            assertEquals(5, one.send(write("hello"), 5));
            assertEquals("hello", receive(other));
            send(third, "from a third", one.localAddress());
            send(other, "from the peer", one.localAddress());
            assertEquals("from the peer", receive(one));
            one.disconnect();
            assertThrows(SocketException.class, one::remoteAddress);
            assertEquals(local, one.localAddress());
            send(third, "from a third again", new InetSocketAddress(IPV4, local.getPort()));
            assertEquals("from a third again", receive(one));
        }
    }

    @Test
    void nobodyAtTheOtherEndIsToldToAConnectedSocket() throws IOException {
        try (KernelSocket one = bound(IPV4); KernelSocket other = bound(IPV4)) {
            // It has the port, so that nobody else gets it, and takes nothing but from there.
            other.connect(new InetSocketAddress(IPV4, 1));
            one.connect(other.localAddress());
            assertEquals(1, one.send(write("x"), 1));
            SocketPair.await(one, Epoll.IN);
            assertEquals(-Errno.ECONNREFUSED, one.receiveFrom(memory.address(), 1));
        }
    }

    @Test
    void whatCannotBeSentIsANegativeNumber() throws IOException {
        try (KernelSocket socket = bound(IPV4)) {
            long text = write("x");
            assertEquals(-Errno.EDESTADDRREQ,
                    socket.sendTo(text, 1, InetSocketAddress.createUnresolved("nobody.invalid", 1)));
            assertEquals(-Errno.EAFNOSUPPORT, socket.sendTo(text, 1, new InetSocketAddress(IPV6, 1)));
            assertEquals(-Errno.EACCES,
                    socket.sendTo(text, 1, new InetSocketAddress(InetAddress.ofLiteral("255.255.255.255"), 1)));
            assertEquals(-Errno.EMSGSIZE, socket.sendTo(text, 1 << 16, new InetSocketAddress(IPV4, 1)));
        }
    }
}
