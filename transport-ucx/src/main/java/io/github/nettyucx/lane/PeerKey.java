// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.Party;

/** One peer's event loop, in one role. */
record PeerKey(LaneKind lane, boolean serving, Party peer) {

    // Written out as in ProcessIdentity.

    @Override
    public boolean equals(Object other) {
        return other instanceof PeerKey key && lane == key.lane && serving == key.serving && peer.equals(key.peer);
    }

    @Override
    public int hashCode() {
        return (31 * lane.ordinal() + Boolean.hashCode(serving)) * 31 + peer.hashCode();
    }
}
