// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.github.nettyucx.socket.SocketLayouts.GroupReq;
import io.github.nettyucx.socket.SocketLayouts.GroupSourceReq;
import io.github.nettyucx.socket.SocketLayouts.IpMreqn;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;

/**
 * The groups of a UDP socket: which it is in, and by which interface its datagrams to groups leave. The group's family
 * counts, not the socket's: one with both has both.
 *
 * <p>What is called after the socket's close throws, as all of the socket's does.
 */
public final class Multicast {
    private final KernelSocket socket;

    Multicast(KernelSocket socket) {
        this.socket = socket;
    }

    /**
     * Joins a group of either family.
     *
     * @param source whose datagrams alone are wanted, or {@code null}
     * @param interfaceIndex on which interface, 0: the system's choice
     */
    public void join(InetAddress group, InetAddress source, int interfaceIndex) throws IOException {
        Errno.check("join group", request(group, source, interfaceIndex,
                source == null ? SocketConstants.MCAST_JOIN_GROUP : SocketConstants.MCAST_JOIN_SOURCE_GROUP));
    }

    /** Undoes {@link #join} with the same arguments. */
    public void leave(InetAddress group, InetAddress source, int interfaceIndex) throws IOException {
        Errno.check("leave group", request(group, source, interfaceIndex,
                source == null ? SocketConstants.MCAST_LEAVE_GROUP : SocketConstants.MCAST_LEAVE_SOURCE_GROUP));
    }

    /** Keeps out a source's datagrams of a group that was joined without a source. */
    public void block(InetAddress group, InetAddress source, int interfaceIndex) throws IOException {
        Errno.check("block source", request(group, source, interfaceIndex, SocketConstants.MCAST_BLOCK_SOURCE));
    }

    /** By which interface datagrams to groups leave, 0: the system's choice. */
    public void outgoing(int interfaceIndex) throws IOException {
        Errno.check("setsockopt(IP_MULTICAST_IF)", setOutgoing(interfaceIndex));
    }

    /**
     * Sets one of the options {@code MCAST_*}.
     *
     * @param source {@code null} for those that take none
     * @return the option's answer
     */
    private int request(InetAddress group, InetAddress source, int interfaceIndex, int option) throws IOException {
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
        return SocketFunctions.setsockopt(state, socket.fd(), level(ipv6), option, state.address(CallState.STRUCT),
                length);
    }

    private int setOutgoing(int interfaceIndex) {
        int fd = socket.fd();
        boolean ipv6 = socket.isIpv6();
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
