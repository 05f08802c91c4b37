// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Groups, within the machine. That a datagram does not come is seen from the next one, which goes to the socket
 * itself.
 */
@Timeout(60)
class MulticastTest {

    private static final InetAddress GROUP4 = InetAddress.ofLiteral("239.77.1.2");
    private static final InetAddress GROUP6 = InetAddress.ofLiteral("ff02::4711:77");

    private enum Family {
        IPV4(false, GROUP4), IPV6(true, GROUP6), IPV4_BY_A_SOCKET_OF_BOTH(true, GROUP4);

        final boolean ipv6;
        final InetAddress group;

        Family(boolean ipv6, InetAddress group) {
            this.ipv6 = ipv6;
            this.group = group;
        }

        InetAddress loopback() {
            return InetAddress.ofLiteral(group instanceof Inet6Address ? "::1" : "127.0.0.1");
        }
    }

    private final MemorySegment memory = Arena.ofAuto().allocate(256);

    /** The loopback interface, for which Linux has a route to groups of IPv4, and mostly none to those of IPv6. */
    private static int index(Family family) throws SocketException {
        NetworkInterface loopback = NetworkInterface.getByInetAddress(InetAddress.ofLiteral("127.0.0.1"));
        if (family.group instanceof Inet6Address) {
            for (NetworkInterface one : NetworkInterface.networkInterfaces().toList()) {
                if (one.isUp() && one.supportsMulticast()
                        && one.inetAddresses().anyMatch(Inet6Address.class::isInstance)) {
                    return one.getIndex();
                }
            }
        }
        return loopback.getIndex();
    }

    private static KernelSocket socket(Family family) throws IOException {
        if (family.ipv6) {
            SocketPair.ipv6Loopback();
        }
        KernelSocket socket = KernelSocket.datagram(family.ipv6);
        socket.bind(new InetSocketAddress(InetAddress.ofLiteral(family.ipv6 ? "::" : "0.0.0.0"), 0));
        socket.groups().outgoing(index(family));
        return socket;
    }

    private int send(KernelSocket from, String text, InetAddress host, int port) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return from.sendTo(memory.address(), text.length(), new InetSocketAddress(host, port));
    }

    /** What comes first when one is sent to the group, and then one to the socket. */
    private String firstOf(Family family, KernelSocket from, KernelSocket to) throws IOException {
        int port = to.localAddress().getPort();
        int sent = send(from, "by the group", family.group, port);
        Assumptions.assumeTrue(sent > 0, () -> "this machine does not send to groups: " + Errno.text(-sent));
        assertEquals(8, send(from, "directly", family.loopback(), port));
        String first = receive(to);
        if (!first.equals("directly")) {
            assertEquals("directly", receive(to));
        }
        return first;
    }

    private String receive(KernelSocket socket) throws IOException {
        SocketPair.await(socket, Epoll.IN);
        return SocketPair.text(memory, socket.receiveFrom(memory.address(), (int) memory.byteSize()));
    }

    @ParameterizedTest
    @EnumSource
    void aMemberGetsWhatIsSentToTheGroupUntilItLeaves(Family family) throws IOException {
        try (KernelSocket sender = socket(family); KernelSocket member = socket(family)) {
            assertEquals("directly", firstOf(family, sender, member));
            member.groups().join(family.group, null, index(family));
            assertEquals("by the group", firstOf(family, sender, member));
            member.groups().leave(family.group, null, index(family));
            assertEquals("directly", firstOf(family, sender, member));
        }
    }

    @ParameterizedTest
    @EnumSource
    void anotherOnesMembershipIsNotOurs(Family family) throws IOException {
        try (KernelSocket sender = socket(family); KernelSocket member = socket(family);
                KernelSocket other = socket(family)) {
            member.groups().join(family.group, null, index(family));
            assertEquals("directly", firstOf(family, sender, other));
            assertEquals("by the group", firstOf(family, sender, member));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMemberMayWantOneSourceOnly(Family family) throws IOException {
        InetAddress another =
                InetAddress.ofLiteral(family.group instanceof Inet6Address ? "2001:db8::1" : "198.51.100.200");
        try (KernelSocket sender = socket(family); KernelSocket member = socket(family)) {
            member.groups().join(family.group, another, index(family));
            assertEquals("directly", firstOf(family, sender, member));
            InetAddress source = sourceOf(family, sender);
            member.groups().join(family.group, source, index(family));
            assertEquals("by the group", firstOf(family, sender, member));
            member.groups().leave(family.group, source, index(family));
            assertEquals("directly", firstOf(family, sender, member));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMemberMayBlockASource(Family family) throws IOException {
        try (KernelSocket sender = socket(family); KernelSocket member = socket(family)) {
            InetAddress source = sourceOf(family, sender);
            member.groups().join(family.group, null, index(family));
            assertEquals("by the group", firstOf(family, sender, member));
            member.groups().block(family.group, source, index(family));
            assertEquals("directly", firstOf(family, sender, member));
        }
    }

    /** The address that the system has such datagrams come from. */
    private InetAddress sourceOf(Family family, KernelSocket sender) throws IOException {
        try (KernelSocket member = socket(family)) {
            member.groups().join(family.group, null, index(family));
            int sent = send(sender, "x", family.group, member.localAddress().getPort());
            Assumptions.assumeTrue(sent > 0, () -> "this machine does not send to groups: " + Errno.text(-sent));
            receive(member);
            return member.lastSender().getAddress();
        }
    }

    @ParameterizedTest
    @EnumSource
    void anInterfaceThatThereIsNotDoesNotTakeThePlaceOfTheOther(Family family) throws IOException {
        try (KernelSocket socket = socket(family)) {
            InetAddress source = sourceOf(family, socket);
            assertThrows(IOException.class, () -> socket.groups().outgoing(Integer.MAX_VALUE));
            assertEquals(source, sourceOf(family, socket));
        }
    }

    @Test
    void whatIsNoGroupCannotBeJoined() throws IOException {
        try (KernelSocket socket = socket(Family.IPV4)) {
            assertEquals("join group failed: Invalid argument", assertThrows(IOException.class,
                    () -> socket.groups().join(InetAddress.ofLiteral("127.0.0.1"), null, 0)).getMessage());
            assertThrows(IOException.class, () -> socket.groups().leave(GROUP4, null, index(Family.IPV4)));
            assertThrows(SocketException.class,
                    () -> socket.groups().join(GROUP4, InetAddress.ofLiteral("::1"), index(Family.IPV4)));
        }
    }
}
