// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

/** A channel of this transport, which counts what happens to it among the counters of its loop. */
interface CountedChannel {

    /** The channel is being registered with a loop that has these counters. */
    void countBy(LoopCounters counters);
}
