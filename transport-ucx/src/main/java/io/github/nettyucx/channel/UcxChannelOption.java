// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.ChannelOption;

/**
 * Options of UCX channels beyond Netty's own. On a server they are set for its children, unless something else is said.
 */
public final class UcxChannelOption {

    /**
     * How long an accepted connection may take to the end of the handshake, in milliseconds; it is closed then. From 1
     * to {@link Integer#MAX_VALUE}; 10,000 by default. The connecting side has
     * {@link ChannelOption#CONNECT_TIMEOUT_MILLIS}; where that is 0, this is for its handshake.
     */
    public static final ChannelOption<Integer> HANDSHAKE_TIMEOUT_MILLIS =
            ChannelOption.valueOf(UcxChannelOption.class, "HANDSHAKE_TIMEOUT_MILLIS");

    /**
     * How long a close waits for the peer while it takes nothing, in milliseconds, when {@link ChannelOption#SO_LINGER}
     * is not set: bytes that were flushed before the close are delivered as long as the peer goes on reading. It may take
     * less than 64 KiB in that time, but more than nothing, six times at most. Also how long a channel stays open, after a
     * write has failed because the peer has gone, for an application that has not read everything. From 0 to
     * {@link Integer#MAX_VALUE}; 10,000 by default.
     */
    public static final ChannelOption<Integer> CLOSE_TIMEOUT_MILLIS =
            ChannelOption.valueOf(UcxChannelOption.class, "CLOSE_TIMEOUT_MILLIS");

    /**
     * The lanes that a connection may take, best first, as a list such as {@code shm,rdma,socket}, which is the default
     * (or what the system property {@code io.github.nettyucx.lanes} says). {@code shm}: shared memory of one host;
     * {@code rdma}: RDMA devices; {@code tcp}: UCX's own TCP; {@code socket}: the kernel's socket. The server's order
     * counts, among those that both sides name. Without {@code socket} a connection between two sides of this transport that
     * can have none of the others fails, with the reasons. Ordinary TCP peers are governed by {@link #PLAIN_PEERS} and
     * {@link #CONNECT_MODE} alone.
     */
    public static final ChannelOption<String> LANES = ChannelOption.valueOf(UcxChannelOption.class, "LANES");

    /**
     * What a client expects of the server; {@link UcxConnectMode#UCX} by default, or what the system property
     * {@code io.github.nettyucx.connectMode} says.
     */
    public static final ChannelOption<UcxConnectMode> CONNECT_MODE =
            ChannelOption.valueOf(UcxChannelOption.class, "CONNECT_MODE");

    /**
     * What a server does with ordinary TCP clients; {@link UcxPlainPeers#SPEAKING} by default, or what the system
     * property {@code io.github.nettyucx.plainPeers} says; {@link UcxPlainPeers#REFUSE} where neither is set and
     * there is a {@link #SHARED_SECRET}. Set on the server's channel itself, it is the default of that server's connections.
     */
    public static final ChannelOption<UcxPlainPeers> PLAIN_PEERS =
            ChannelOption.valueOf(UcxChannelOption.class, "PLAIN_PEERS");

    /**
     * After how long a client is taken for an ordinary one, in milliseconds. With {@link UcxPlainPeers#ALL} and
     * {@link UcxPlainPeers#NEIGHBOURS}: one that says nothing. With all but {@link UcxPlainPeers#REFUSE}: one that begins
     * as a handshake does, with some of {@code NettyUC}, and says no more. From 1 to {@link Integer#MAX_VALUE}; by default
     * what the system property {@code io.github.nettyucx.plainGraceMillis} says, or 200.
     */
    public static final ChannelOption<Integer> PLAIN_GRACE_MILLIS =
            ChannelOption.valueOf(UcxChannelOption.class, "PLAIN_GRACE_MILLIS");

    /**
     * What both sides have to know, 16 to 4096 bytes; each proves that it does before the other tells it how to reach
     * its memory. None by default, or the content of the file that the system property
     * {@code io.github.nettyucx.secretFile} names. It authenticates the peers; it does not encrypt.
     */
    public static final ChannelOption<byte[]> SHARED_SECRET =
            ChannelOption.valueOf(UcxChannelOption.class, "SHARED_SECRET");

    /**
     * Whether a connection may leave the socket although something between the two sides translates its addresses: a
     * proxy, or NAT, whose policy a faster lane would bypass. Both sides have to allow it. {@code false} by default.
     */
    public static final ChannelOption<Boolean> TRANSLATED_ADDRESSES =
            ChannelOption.valueOf(UcxChannelOption.class, "TRANSLATED_ADDRESSES");

    /**
     * As Netty's {@code EpollChannelOption.SO_REUSEPORT}: several of them may be bound to one port. Of a server, a datagram
     * channel, or a client that is bound.
     */
    public static final ChannelOption<Boolean> SO_REUSEPORT =
            ChannelOption.valueOf(UcxChannelOption.class, "SO_REUSEPORT");

    private UcxChannelOption() {
    }
}
