// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.EnumMap;
import java.util.Map;

/**
 * What this side brings along to a handshake.
 *
 * @param lanes what it allows, best first
 * @param available the {@linkplain LaneKind#bit bits} of the lanes that this process can have; the socket is always
 *         one of them
 * @param unavailable why it cannot have the others; may be incomplete
 * @param ucxVersion {@code major << 24 | minor << 16 | release}; 0 without UCX
 * @param party the event loop of the connection
 * @param secret or null
 * @param translatedAddresses whether a lane of UCX may be taken though the two sides see different addresses, as it is
 *         behind a proxy or NAT; it takes both sides
 * @param channelId of the connection, unique in its worker; not 0
 * @param window credit that the peer starts with: {@value Hello#MIN_WINDOW} to {@value Hello#MAX_WINDOW} bytes
 * @param maxMessage the most bytes of one message to this side: 1 to {@code window}
 * @param local this side's address of the control socket, or null if it is not known
 * @param remote the peer's address of the control socket, or null if it is not known
 * @param nearness asked before this side attaches memory that the peer names
 */
public record Terms(LaneSet lanes, int available, Map<LaneKind, String> unavailable, int ucxVersion, Party party,
        SharedSecret secret, boolean translatedAddresses, int channelId, int window, int maxMessage,
        InetSocketAddress local, InetSocketAddress remote, Nearness nearness) {

    /** @throws IllegalArgumentException if a number is out of its range */
    public Terms {
        String wrong = Hello.wrong(channelId, window, maxMessage);
        if (wrong != null) {
            throw new IllegalArgumentException(wrong);
        }
    }

    /** The same where nothing but the socket can be had. */
    public Terms withSocketAlone(String reason) {
        Map<LaneKind, String> reasons = new EnumMap<>(LaneKind.class);
        for (LaneKind kind : lanes.kinds()) {
            reasons.put(kind, reason);
        }
        return new Terms(lanes, LaneKind.SOCKET.bit(), reasons, ucxVersion, party, secret, translatedAddresses, channelId,
                window, maxMessage, local, remote, nearness);
    }

    /** The bits of the lanes that are allowed and can be had. */
    int offered() {
        return lanes.mask() & (available | LaneKind.SOCKET.bit());
    }

    /**
     * Why the peer has to be taken for one that is not on this host, or {@code null}.
     *
     * @param address of the peer's worker, as it has come
     */
    String distance(byte[] nonce, byte[] address, Side peer) {
        try {
            return nearness.isShown(Nearness.digest(nonce, address)) ? null : peer + " has not shown that it is on this host";
        } catch (IOException e) {
            return peer.other() + " cannot tell whether " + peer + " is on this host: " + e.getMessage();
        }
    }

    Hello hello(byte[] nonce) {
        return new Hello(ucxVersion, party, offered(), secret != null, translatedAddresses, channelId, window,
                maxMessage, nonce, local, remote);
    }
}
