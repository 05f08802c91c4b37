// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

/** What a connecting {@link UcxSocketChannel} expects of the server. See {@link UcxChannelOption#CONNECT_MODE}. */
public enum UcxConnectMode {
    /** The server takes this transport: the handshake begins at once, and the connect fails if it is not answered so. */
    UCX,
    /**
     * The server takes this transport if it is a process of this host that has announced it, or if it is in one of the
     * networks that the system property {@code io.github.nettyucx.networks} names, and answers the handshake; otherwise the
     * channel is an ordinary TCP connection. A server that has announced nothing and is in no such network never sees a
     * byte of a handshake. To one that does not answer as a server of this transport the channel connects again, without a
     * handshake, and for a minute nobody asks it again.
     */
    ANNOUNCED,
    /** The server is an ordinary TCP server: the channel's bytes go over the socket, as with Netty's other transports. */
    PLAIN
}
