// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

/** Socket addresses as {@code struct sockaddr_in} and {@code sockaddr_in6}. */
final class UcsSockAddr {

    private static final ValueLayout.OfShort PORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int IPV4_BYTES = 4;
    private static final int IPV6_BYTES = 16;

    private UcsSockAddr() {
    }

    /**
     * Writes an address.
     *
     * @return a segment whose size is the address's {@code socklen_t}
     */
    static MemorySegment encode(Arena arena, InetSocketAddress address) {
        InetAddress host = address.getAddress();
        if (host == null) {
            throw new IllegalArgumentException("The address is unresolved: " + address);
        }
        byte[] bytes = host.getAddress();
        if (host instanceof Inet4Address) {
            MemorySegment in = arena.allocate(UcpLayouts.SockAddrIn.SIZE, Long.BYTES);
            in.set(ValueLayout.JAVA_SHORT, UcpLayouts.SockAddrIn.FAMILY, (short) UcpConstants.AF_INET);
            in.set(PORT, UcpLayouts.SockAddrIn.PORT, (short) address.getPort());
            MemorySegment.copy(bytes, 0, in, ValueLayout.JAVA_BYTE, UcpLayouts.SockAddrIn.ADDR, bytes.length);
            return in;
        }
        MemorySegment in6 = arena.allocate(UcpLayouts.SockAddrIn6.SIZE, Long.BYTES);
        in6.set(ValueLayout.JAVA_SHORT, UcpLayouts.SockAddrIn6.FAMILY, (short) UcpConstants.AF_INET6);
        in6.set(PORT, UcpLayouts.SockAddrIn6.PORT, (short) address.getPort());
        MemorySegment.copy(bytes, 0, in6, ValueLayout.JAVA_BYTE, UcpLayouts.SockAddrIn6.ADDR, bytes.length);
        in6.set(ValueLayout.JAVA_INT, UcpLayouts.SockAddrIn6.SCOPE_ID, ((Inet6Address) host).getScopeId());
        return in6;
    }

    /**
     * Reads an address from a {@code struct sockaddr_storage} at {@code offset}.
     *
     * @return {@code null} if it holds none, or one of another family
     */
    static InetSocketAddress decode(MemorySegment segment, long offset) {
        MemorySegment storage = segment.asSlice(offset, UcpLayouts.SockAddrStorage.SIZE);
        try {
            switch (storage.get(ValueLayout.JAVA_SHORT, UcpLayouts.SockAddrIn.FAMILY)) {
                case UcpConstants.AF_INET: {
                    byte[] bytes = storage.asSlice(UcpLayouts.SockAddrIn.ADDR, IPV4_BYTES)
                            .toArray(ValueLayout.JAVA_BYTE);
                    return new InetSocketAddress(
                            InetAddress.getByAddress(bytes), port(storage, UcpLayouts.SockAddrIn.PORT));
                }
                case UcpConstants.AF_INET6: {
                    byte[] bytes = storage.asSlice(UcpLayouts.SockAddrIn6.ADDR, IPV6_BYTES)
                            .toArray(ValueLayout.JAVA_BYTE);
                    int scope = storage.get(ValueLayout.JAVA_INT, UcpLayouts.SockAddrIn6.SCOPE_ID);
                    // Not InetAddress.getByAddress, which knows no scope and turns ::ffff:a.b.c.d into IPv4.
                    // Scope 0 means "none", for which Java has -1.
                    return new InetSocketAddress(
                            Inet6Address.getByAddress(null, bytes, scope == 0 ? -1 : scope),
                            port(storage, UcpLayouts.SockAddrIn6.PORT));
                }
                default:
                    return null;
            }
        } catch (UnknownHostException e) {
            throw new AssertionError("the length of an address is fixed", e);
        }
    }

    private static int port(MemorySegment storage, long offset) {
        return Short.toUnsignedInt(storage.get(PORT, offset));
    }
}
