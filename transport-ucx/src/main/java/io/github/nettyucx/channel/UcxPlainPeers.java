// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

/** What a server does with ordinary TCP clients. See {@link UcxChannelOption#PLAIN_PEERS}. */
public enum UcxPlainPeers {
    /** They are turned away. */
    REFUSE,
    /**
     * Those that speak first are served: what they say is not how a client of this transport begins, or for
     * {@link UcxChannelOption#PLAIN_GRACE_MILLIS} no more than the first bytes of that.
     */
    SPEAKING,
    /**
     * Those that wait for the server to speak as well: who has said nothing for
     * {@link UcxChannelOption#PLAIN_GRACE_MILLIS} is taken for an ordinary client.
     */
    ALL,
    /**
     * All, but only neighbours may be of this transport: clients of this host, and of the networks that the system property
     * {@code io.github.nettyucx.networks} names. Those are looked at as with {@link #ALL}. Everybody else is served as an
     * ordinary client, and does not wait, unless its first bytes are those of a handshake.
     */
    NEIGHBOURS
}
