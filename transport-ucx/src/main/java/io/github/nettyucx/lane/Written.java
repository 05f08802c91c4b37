// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

/** How far a write has come. */
public enum Written {
    /** Everything that was flushed has been sent and its promises are done. */
    DRAINED,
    /** The turn's share is used up: there may be more to send at once. */
    AGAIN,
    /** The rest has to wait for {@link LaneListener#outputReady()}. */
    WAITING
}
