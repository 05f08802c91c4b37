// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.lane.LoopLanes;

import java.io.IOException;

/**
 * What a channel has of the event loop that it is registered with. For implementations of event loops; only the loop's
 * thread calls.
 *
 * @see IoDriver#register
 */
public interface LoopRegistration {

    /** What the loop has to move bytes with. */
    LoopLanes lanes() throws IOException;

    /** The loop forgets the channel. */
    void cancel();
}
