// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.github.nettyucx.socket.SocketLayouts.GroupReq;
import io.github.nettyucx.socket.SocketLayouts.GroupSourceReq;
import io.github.nettyucx.socket.SocketLayouts.IpMreqn;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;

/** The options of a UDP socket for groups. The group's family counts, not the socket's: one with both has both. */
final class Multicast {

    private Multicast() {
    }

    /**
     * Sets one of the options {@code MCAST_*}.
     *
     * @param source {@code null} for those that take none
     * @return the option's answer
     */
    static int request(int fd, InetAddress group, InetAddress source, int interfaceIndex, int option)
            throws IOException {
        boolean ipv6 = group instanceof Inet6Address;
        CallState state = CallState.current();
        state.memory.asSlice(CallState.STRUCT, GroupSourceReq.SIZE).fill((byte) 0);
        state.memory.set(JAVA_INT, CallState.STRUCT + GroupReq.INTERFACE, interfaceIndex);
        SocketAddresses.encode(group, 0, ipv6, state.memory, CallState.STRUCT + GroupReq.GROUP);
        int length = GroupReq.SIZE;
        if (source != null) {
            SocketAddresses.encode(source, 0, ipv6, state.memory, CallState.STRUCT + GroupSourceReq.SOURCE);
            length = GroupSourceReq.SIZE;
        }
        return SocketFunctions.setsockopt(state, fd, level(ipv6), option, state.address(CallState.STRUCT), length);
    }

    /** By which interface datagrams to groups leave. */
    static int outgoing(int fd, boolean ipv6, int interfaceIndex) {
        CallState state = CallState.current();
        if (ipv6) {
            state.memory.set(JAVA_INT, CallState.STRUCT, interfaceIndex);
            int result = SocketFunctions.setsockopt(state, fd, SocketConstants.IPPROTO_IPV6,
                    SocketConstants.IPV6_MULTICAST_IF, state.address(CallState.STRUCT), Integer.BYTES);
            if (result < 0) {
                return result;
            }
        }
        state.memory.asSlice(CallState.STRUCT, IpMreqn.SIZE).fill((byte) 0);
        state.memory.set(JAVA_INT, CallState.STRUCT + IpMreqn.IFINDEX, interfaceIndex);
        int result = SocketFunctions.setsockopt(state, fd, SocketConstants.IPPROTO_IP, SocketConstants.IP_MULTICAST_IF,
                state.address(CallState.STRUCT), IpMreqn.SIZE);
        // An interface without an IPv4 address: IPv6 has been told.
        return ipv6 ? 0 : result;
    }

    private static int level(boolean ipv6) {
        return ipv6 ? SocketConstants.IPPROTO_IPV6 : SocketConstants.IPPROTO_IP;
    }
}
