// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

/** How far a {@link UcxSocketChannel} has come. */
enum ChannelState {
    /** Neither connected nor connecting. */
    UNCONNECTED,
    /** The socket connects, or the handshake is under way: see {@link Opening}. */
    CONNECTING,
    /** Accepted, and without a connection for good: open for as long as the application is told so, see {@link Connecting}. */
    PASSING,
    /** Bytes flow, by a {@link io.github.nettyucx.lane.Lane}. */
    ACTIVE,
    /** Closed by the application; what was flushed before is being delivered: see {@link Linger}. */
    LINGERING,
    /** The same before it was open, and so never active: nothing can be delivered before the handshake is over. */
    DECLINING,
    /**
     * Closed; everything that was flushed has been sent, and the peer is being told of the end, if need be after the
     * handshake: see {@link Closing}.
     */
    DEPARTING,
    CLOSED;

    /** Whether the application has an open channel. */
    boolean isOpen() {
        return this != CLOSED && this != DEPARTING;
    }

    /** Whether the application has a channel that is active. Not after a close: a pool of channels takes one that is active back. */
    boolean isActive() {
        return this == PASSING || this == ACTIVE;
    }

    /** Whether it has not been connected so far. */
    boolean isUnconnected() {
        return this == UNCONNECTED || this == CONNECTING;
    }

    /** Whether there is a peer to be told of a close. */
    boolean isLingering() {
        return this == LINGERING || this == DECLINING || this == DEPARTING;
    }
}
