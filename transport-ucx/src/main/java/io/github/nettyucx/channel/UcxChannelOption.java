// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.ChannelOption;

/** Options of UCX channels beyond Netty's own. */
public final class UcxChannelOption {

    /**
     * How long a connection may take from the peer's request to the end of the handshake, in milliseconds; a server
     * closes it then. From 1 to {@link Integer#MAX_VALUE}; 10,000 by default. Set it on the server's children; the
     * connecting side has {@link ChannelOption#CONNECT_TIMEOUT_MILLIS}. On the server channel itself it bounds how long a
     * TCP connection may take to become a request, and how long a request may wait to be accepted.
     */
    public static final ChannelOption<Integer> HANDSHAKE_TIMEOUT_MILLIS =
            ChannelOption.valueOf(UcxChannelOption.class, "HANDSHAKE_TIMEOUT_MILLIS");

    /**
     * How long a close waits for the peer while it takes nothing, in milliseconds, when {@link ChannelOption#SO_LINGER}
     * is not set: bytes that were flushed before the close are delivered as long as the peer goes on reading. From 0
     * to {@link Integer#MAX_VALUE}; 10,000 by default.
     */
    public static final ChannelOption<Integer> CLOSE_TIMEOUT_MILLIS =
            ChannelOption.valueOf(UcxChannelOption.class, "CLOSE_TIMEOUT_MILLIS");

    private UcxChannelOption() {
    }
}
