// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.handshake;

import java.util.List;

/**
 * What a handshake has agreed on.
 *
 * @param lane the lane that the bytes take
 * @param link this side's half of the link, pinned for the receiver of this outcome; null on {@link LaneKind#SOCKET}
 * @param peer what the peer has said of itself
 * @param reasons why each lane that this side likes better was not taken, such as {@code shm: on different hosts};
 *         empty if it is the first choice
 */
public record Outcome(LaneKind lane, LinkHalf link, Hello peer, List<String> reasons) {
}
