// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.github.nettyucx.socket.SocketLayouts.SockAddrIn;
import io.github.nettyucx.socket.SocketLayouts.SockAddrIn6;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

/** Addresses as {@code struct sockaddr_in} and {@code struct sockaddr_in6}. */
public final class SocketAddresses {
    private static final ValueLayout.OfShort PORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int IPV4_BYTES = 4;
    private static final int IPV6_BYTES = 16;
    private static final int MAPPED_PREFIX = 10;

    private SocketAddresses() {
    }

    /**
     * Writes an address as one of its own family.
     *
     * @return a segment whose size is the {@code socklen_t}
     * @throws IllegalArgumentException if the address is unresolved
     */
    public static MemorySegment encode(Arena arena, InetSocketAddress address) {
        InetAddress host = address.getAddress();
        if (host == null) {
            throw new IllegalArgumentException("The address is unresolved: " + address);
        }
        boolean ipv6 = host instanceof Inet6Address;
        MemorySegment encoded = arena.allocate(ipv6 ? SockAddrIn6.SIZE : SockAddrIn.SIZE, Long.BYTES);
        try {
            encode(host, address.getPort(), ipv6, encoded, 0);
        } catch (SocketException e) {
            throw new AssertionError("the family is the address's own", e);
        }
        return encoded;
    }

    /**
     * Writes an address as a socket of this family takes it; an IPv6 one takes an IPv4 address as ::ffff:a.b.c.d.
     *
     * @return the {@code socklen_t}
     * @throws UnknownHostException if the address is unresolved
     * @throws SocketException if an IPv4 socket was asked to take an IPv6 address
     */
    static int encode(InetSocketAddress address, boolean ipv6, MemorySegment memory, long offset)
            throws UnknownHostException, SocketException {
        InetAddress host = address.getAddress();
        if (host == null) {
            throw new UnknownHostException(address.getHostString());
        }
        return encode(host, address.getPort(), ipv6, memory, offset);
    }

    static int encode(InetAddress host, int port, boolean ipv6, MemorySegment memory, long offset)
            throws SocketException {
        byte[] bytes = host.getAddress();
        if (!ipv6) {
            if (bytes.length != IPV4_BYTES) {
                if (!host.isAnyLocalAddress()) {
                    throw (SocketException) Errno.exception("encode", Errno.EAFNOSUPPORT);
                }
                // Both wildcards mean the same: whatever addresses there are.
                bytes = new byte[IPV4_BYTES];
            }
            memory.asSlice(offset, SockAddrIn.SIZE).fill((byte) 0);
            memory.set(JAVA_SHORT, offset + SockAddrIn.FAMILY, (short) SocketConstants.AF_INET);
            memory.set(PORT, offset + SockAddrIn.PORT, (short) port);
            MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, offset + SockAddrIn.ADDR, IPV4_BYTES);
            return SockAddrIn.SIZE;
        }
        memory.asSlice(offset, SockAddrIn6.SIZE).fill((byte) 0);
        memory.set(JAVA_SHORT, offset + SockAddrIn6.FAMILY, (short) SocketConstants.AF_INET6);
        memory.set(PORT, offset + SockAddrIn6.PORT, (short) port);
        if (host instanceof Inet6Address inet6) {
            MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, offset + SockAddrIn6.ADDR, IPV6_BYTES);
            memory.set(JAVA_INT, offset + SockAddrIn6.SCOPE_ID, inet6.getScopeId());
        } else {
            long mapped = offset + SockAddrIn6.ADDR + MAPPED_PREFIX;
            memory.set(JAVA_SHORT, mapped, (short) -1);
            MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, mapped + Short.BYTES, IPV4_BYTES);
        }
        return SockAddrIn6.SIZE;
    }

    /** An address to bind to: on an IPv6 socket, any wildcard is {@code ::}, which has both families. */
    static int encodeLocal(InetSocketAddress address, boolean ipv6, MemorySegment memory, long offset)
            throws UnknownHostException, SocketException {
        int length = encode(address, ipv6, memory, offset);
        if (ipv6 && address.getAddress() instanceof Inet4Address host && host.isAnyLocalAddress()) {
            memory.set(JAVA_LONG, offset + SockAddrIn6.ADDR, 0);
            memory.set(JAVA_LONG, offset + SockAddrIn6.ADDR + Long.BYTES, 0);
        }
        return length;
    }

    /**
     * Reads an address. ::ffff:a.b.c.d comes out as IPv4; a scope is kept as its number.
     *
     * @return {@code null} if it is of another family
     */
    static InetSocketAddress decode(MemorySegment memory, long offset) {
        return decode(memory, offset, true);
    }

    /**
     * Reads an address; an IPv6 one stays IPv6.
     *
     * @return {@code null} if there is none, or one of another family
     */
    public static InetSocketAddress decodeAsIs(MemorySegment memory, long offset) {
        return decode(memory, offset, false);
    }

    private static InetSocketAddress decode(MemorySegment memory, long offset, boolean unmapped) {
        try {
            switch (memory.get(JAVA_SHORT, offset + SockAddrIn.FAMILY)) {
                case SocketConstants.AF_INET: {
                    byte[] bytes = new byte[IPV4_BYTES];
                    MemorySegment.copy(memory, JAVA_BYTE, offset + SockAddrIn.ADDR, bytes, 0, IPV4_BYTES);
                    return new InetSocketAddress(InetAddress.getByAddress(bytes), port(memory, offset));
                }
                case SocketConstants.AF_INET6: {
                    byte[] bytes = new byte[IPV6_BYTES];
                    MemorySegment.copy(memory, JAVA_BYTE, offset + SockAddrIn6.ADDR, bytes, 0, IPV6_BYTES);
                    // Makes an Inet4Address of a mapped one.
                    InetAddress host = unmapped ? InetAddress.getByAddress(bytes) : null;
                    int scope = memory.get(JAVA_INT, offset + SockAddrIn6.SCOPE_ID);
                    // Scope 0 means "none", for which Java has -1.
                    return new InetSocketAddress(host instanceof Inet4Address ? host
                            : Inet6Address.getByAddress(null, bytes, scope == 0 ? -1 : scope), port(memory, offset));
                }
                default:
                    return null;
            }
        } catch (UnknownHostException e) {
            throw new AssertionError("the length of an address is fixed", e);
        }
    }

    /** At the same place in both structs. */
    private static int port(MemorySegment memory, long offset) {
        return Short.toUnsignedInt(memory.get(PORT, offset + SockAddrIn.PORT));
    }
}
