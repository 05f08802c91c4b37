// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.lang.foreign.MemorySegment;

/** Room for a frame: in the ring, or beside it until the ring has room. */
final class Slot {

    /** Where the frame begins. */
    MemorySegment memory;
    long offset;
    /** In the ring, or {@link Peer#NO_TICKET}. */
    long position;
    int length;
    /** Of a frame beside the ring. */
    int kind;
    int type;
    /** Of the first frame of a message that must not begin yet: the others are with it, and all of them go together. */
    boolean waits;
    /** Of the last frame of a message of a thread: {@link Outgoing#ended} when it is in the ring. */
    boolean ends;
    Slot next;
}
