// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SocketAddressesTest {

    @ParameterizedTest
    @CsvSource({"127.0.0.1, 1", "10.200.3.255, 65535", "::1, 40000", "fe80::1:2:3, 80", "0.0.0.0, 0", "::, 0"})
    void whatIsWrittenIsReadBack(String host, int port) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(host), port);
            MemorySegment encoded = SocketAddresses.encode(arena, address);
            assertEquals(address, SocketAddresses.decodeAsIs(storage(arena, encoded), 0));
        }
    }

    @Test
    void theBytesOfAnIpv4AddressAreInNetworkOrder() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment encoded =
                    SocketAddresses.encode(arena, new InetSocketAddress(InetAddress.getByName("1.2.3.4"), 0x0506));
            assertEquals(16, encoded.byteSize());
            assertEquals(0x0605, encoded.get(ValueLayout.JAVA_SHORT, 2));
            assertEquals(0x0403_0201, encoded.get(ValueLayout.JAVA_INT, 4));
        }
    }

    @Test
    void anIpv6ScopeIsKept() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            byte[] bytes = InetAddress.getByName("fe80::1").getAddress();
            InetSocketAddress address = new InetSocketAddress(Inet6Address.getByAddress(null, bytes, 3), 7);
            MemorySegment encoded = SocketAddresses.encode(arena, address);
            assertEquals(28, encoded.byteSize());
            InetSocketAddress decoded = SocketAddresses.decodeAsIs(storage(arena, encoded), 0);
            assertEquals(3, ((Inet6Address) decoded.getAddress()).getScopeId());
        }
    }

    @Test
    void anIpv4AddressInIpv6DressStaysIpv6() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment storage = arena.allocate(SocketLayouts.SockAddrStorage.SIZE, 8);
            storage.set(ValueLayout.JAVA_SHORT, 0, (short) SocketConstants.AF_INET6);
            storage.set(ValueLayout.JAVA_SHORT, 8 + 10, (short) -1);
            storage.set(ValueLayout.JAVA_INT_UNALIGNED, 8 + 12, 0x0403_0201);
            InetAddress decoded = SocketAddresses.decodeAsIs(storage, 0).getAddress();
            assertInstanceOf(Inet6Address.class, decoded);
            assertEquals("0:0:0:0:0:ffff:102:304", decoded.getHostAddress());
        }
    }

    @Test
    void noAddressIsNull() {
        try (Arena arena = Arena.ofConfined()) {
            assertNull(SocketAddresses.decodeAsIs(arena.allocate(SocketLayouts.SockAddrStorage.SIZE, 8), 0));
        }
    }

    @Test
    void anUnresolvedAddressIsRefused() {
        try (Arena arena = Arena.ofConfined()) {
            assertThrows(IllegalArgumentException.class,
                    () -> SocketAddresses.encode(arena, InetSocketAddress.createUnresolved("host.invalid", 1)));
        }
    }

    private static MemorySegment storage(Arena arena, MemorySegment encoded) {
        return arena.allocate(SocketLayouts.SockAddrStorage.SIZE, 8).copyFrom(encoded);
    }
}
