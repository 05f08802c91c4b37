// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;

/**
 * The addresses that the datagrams of a thread have gone to and come from last, in Java's form and in C's, so that a
 * datagram allocates nothing. Two addresses that fall into the same place take it from each other.
 */
final class AddressCache {
    /** Of each direction. A power of two. */
    private static final int PLACES = 256;
    /** A {@code struct sockaddr_in6}, filled up with zeros. */
    static final int ENTRY = 32;
    private static final int SPREAD = 0x9E3779B9;

    private final MemorySegment sent = Arena.ofAuto().allocate((long) PLACES * ENTRY, 8);
    private final MemorySegment received = Arena.ofAuto().allocate((long) PLACES * ENTRY, 8);
    private final InetSocketAddress[] sentTo = new InetSocketAddress[PLACES];
    private final boolean[] sentAsIpv6 = new boolean[PLACES];
    private final InetSocketAddress[] receivedFrom = new InetSocketAddress[PLACES];

    /** Where the address lies in C's form, with the length {@link #length}; valid until the next call. */
    long encode(InetSocketAddress address, boolean ipv6) throws UnknownHostException, SocketException {
        int place = place(address.hashCode() + (ipv6 ? 1 : 0));
        long offset = (long) place * ENTRY;
        if (sentAsIpv6[place] != ipv6 || !sameAddress(address, sentTo[place])) {
            // Forgotten first: what follows may throw halfway.
            sentTo[place] = null;
            SocketAddresses.encode(address, ipv6, sent, offset);
            sentTo[place] = address;
            sentAsIpv6[place] = ipv6;
        }
        return sent.address() + offset;
    }

    static int length(boolean ipv6) {
        return ipv6 ? SocketLayouts.SockAddrIn6.SIZE : SocketLayouts.SockAddrIn.SIZE;
    }

    /** The address at {@code offset}, whose first {@value #ENTRY} bytes are the address and zeros. */
    InetSocketAddress decode(MemorySegment memory, long offset) {
        long first = memory.get(JAVA_LONG, offset);
        long second = memory.get(JAVA_LONG, offset + 8);
        long third = memory.get(JAVA_LONG, offset + 16);
        long fourth = memory.get(JAVA_LONG, offset + 24);
        int place = place(Long.hashCode(first + 31 * (second + 31 * (third + 31 * fourth))));
        long entry = (long) place * ENTRY;
        if (receivedFrom[place] == null || received.get(JAVA_LONG, entry) != first
                || received.get(JAVA_LONG, entry + 8) != second || received.get(JAVA_LONG, entry + 16) != third
                || received.get(JAVA_LONG, entry + 24) != fourth) {
            receivedFrom[place] = SocketAddresses.decode(memory, offset);
            MemorySegment.copy(memory, offset, received, entry, ENTRY);
        }
        return receivedFrom[place];
    }

    private static int place(int hash) {
        return hash * SPREAD >>> Integer.SIZE - Integer.numberOfTrailingZeros(PLACES);
    }

    /** Equal addresses may differ in the scope, which {@code equals} leaves out. */
    private static boolean sameAddress(InetSocketAddress one, InetSocketAddress other) {
        return one == other || one.equals(other) && scope(one) == scope(other);
    }

    private static int scope(InetSocketAddress address) {
        return address.getAddress() instanceof Inet6Address inet6 ? inet6.getScopeId() : 0;
    }
}
