// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

/** What a connecting {@link UcxSocketChannel} expects of the server. See {@link UcxChannelOption#CONNECT_MODE}. */
public enum UcxConnectMode {
    /** The server takes this transport: the handshake begins at once, and the connect fails if it is not answered so. */
    UCX,
    /**
     * The server takes this transport if it is a process of this host that has announced it, or if it is in one of the
     * networks that the system property {@code io.github.nettyucx.networks} names, and answers the handshake; otherwise the
     * channel is an ordinary TCP connection. A server that has announced nothing and is in no such network never sees a byte
     * of a handshake. To one that does not answer as a server of this transport, or that answers that it lacks memory or
     * something else, the channel connects again, without a handshake. If this side was late for a server that has announced
     * itself, or a server that had answered has closed the connection, it begins once more first, with the handshake. Nobody
     * in this process asks it again for a minute; for 5 s if it has announced itself, and says nothing or this side was
     * late. Any other refusal, such as that the shared secret does not fit or that there is no common lane, fails the
     * connect. So does what this side lacks, and then nothing is kept in mind.
     */
    ANNOUNCED,
    /** The server is an ordinary TCP server: the channel's bytes go over the socket, as with Netty's other transports. */
    PLAIN
}
