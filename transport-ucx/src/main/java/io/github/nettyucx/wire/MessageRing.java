// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.netty.buffer.ByteBuf;

/** What {@link Inbound} queues: a ring of entries, oldest first, in arrays, so that a message makes no object. */
abstract sealed class MessageRing permits Inbound {

    // What an entry is, and its handle UCX's: the message's, the request's, or nothing's.
    static final byte HELD = 1;
    static final byte RECEIVING = 2;
    static final byte READY = 3;

    byte[] kinds = new byte[8];
    long[] handles = new long[8];
    int[] lengths = new int[8];
    /** How many there are in the buffer. */
    int[] messages = new int[8];
    ByteBuf[] buffers = new ByteBuf[8];
    int head;
    int size;

    /** A message that UCX has, behind all others. There has to be {@linkplain #makeRoom room}. @return the index */
    final int add(long message, int length) {
        int index = head + size & kinds.length - 1;
        kinds[index] = HELD;
        handles[index] = message;
        lengths[index] = length;
        messages[index] = 0;
        buffers[index] = null;
        size++;
        return index;
    }

    /** For one more entry. If there is no memory for that, the queue is as it was. */
    final void makeRoom() {
        int capacity = kinds.length;
        if (size < capacity) {
            return;
        }
        // Straightens the ring, so that the head is at 0.
        byte[] newKinds = rotate(kinds, new byte[capacity * 2], capacity);
        long[] newHandles = rotate(handles, new long[capacity * 2], capacity);
        int[] newLengths = rotate(lengths, new int[capacity * 2], capacity);
        int[] newMessages = rotate(messages, new int[capacity * 2], capacity);
        buffers = rotate(buffers, new ByteBuf[capacity * 2], capacity);
        kinds = newKinds;
        handles = newHandles;
        lengths = newLengths;
        messages = newMessages;
        head = 0;
    }

    private <T> T rotate(T from, T to, int capacity) {
        System.arraycopy(from, head, to, 0, capacity - head);
        System.arraycopy(from, 0, to, capacity - head, head);
        return to;
    }
}
