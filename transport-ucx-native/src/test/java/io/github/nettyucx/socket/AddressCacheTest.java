// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AddressCacheTest {

    private final AddressCache cache = new AddressCache();
    private final MemorySegment memory = Arena.ofAuto().allocate(AddressCache.ENTRY, 8);

    /** To C's form and back, each by way of the cache. */
    private InetSocketAddress thereAndBack(InetSocketAddress address, boolean ipv6) throws IOException {
        int length = AddressCache.length(ipv6);
        MemorySegment encoded = MemorySegment.ofAddress(cache.encode(address, ipv6)).reinterpret(length);
        memory.fill((byte) 0);
        MemorySegment.copy(encoded, JAVA_BYTE, 0, memory, JAVA_BYTE, 0, length);
        return cache.decode(memory, 0);
    }

    /** Far more than there are places. */
    @Test
    void manyAddressesAreNotMistakenForEachOther() throws IOException {
        Random random = new Random(3);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextBoolean() ? 4 : 16];
            random.nextBytes(bytes);
            // Few of the first bytes, so that there are similar ones, and some that come back.
            bytes[0] = 32;
            bytes[1] = (byte) random.nextInt(2);
            for (int b = 2; b < bytes.length; b++) {
                bytes[b] &= 1;
            }
            InetSocketAddress address =
                    new InetSocketAddress(InetAddress.getByAddress(bytes), random.nextInt(4) * 16384);
            assertEquals(address, thereAndBack(address, true));
            if (bytes.length == 4) {
                assertEquals(address, thereAndBack(address, false));
            }
        }
    }

    @Test
    void addressesThatDifferInTheirScopeAreTwo() throws IOException {
        byte[] bytes = InetAddress.ofLiteral("fe80::1").getAddress();
        for (int scope = 1; scope < 4; scope++) {
            InetSocketAddress address = new InetSocketAddress(Inet6Address.getByAddress(null, bytes, scope), 1);
            InetSocketAddress back = thereAndBack(address, true);
            assertEquals(address, back);
            assertEquals(scope, ((Inet6Address) back.getAddress()).getScopeId());
        }
    }

    @Test
    void whatIsKnownIsNotMadeAgain() throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 1);
        assertSame(thereAndBack(address, true), thereAndBack(address, true));
        assertEquals(cache.encode(address, true),
                cache.encode(new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 1), true));
    }

    @Test
    void anAddressThatWasRefusedIsRefusedAgain() {
        InetSocketAddress six = new InetSocketAddress(InetAddress.ofLiteral("2001:db8::1"), 1);
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("nobody.invalid", 1);
        for (int i = 0; i < 2; i++) {
            assertThrows(SocketException.class, () -> cache.encode(six, false));
            assertThrows(UnknownHostException.class, () -> cache.encode(unresolved, true));
        }
    }
}
