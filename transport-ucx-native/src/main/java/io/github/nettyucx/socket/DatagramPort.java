// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import java.net.InetSocketAddress;

/** A datagram socket as those use it who read and write. */
public interface DatagramPort {

    /**
     * Takes a datagram; what {@code length} has no room for is lost.
     *
     * @return its length, which may be 0, or the negative error number
     */
    int receiveFrom(long address, int length);

    /** Who has sent what {@link #receiveFrom} took last; {@code null} before. */
    InetSocketAddress lastSender();

    /**
     * Sends a datagram.
     *
     * @param remote {@code null} for the peer that the socket is connected to
     * @return its length, or the negative error number: {@code -EDESTADDRREQ} for an unresolved address,
     *         {@code -EAFNOSUPPORT} for an IPv6 one on an IPv4 socket
     */
    int sendTo(long address, int length, InetSocketAddress remote);
}
