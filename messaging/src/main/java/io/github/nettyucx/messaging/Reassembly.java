// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.collection.LongObjectHashMap;
import io.netty.util.collection.LongObjectMap;

/** Messages of one connection that come in fragments, until they are complete. Only for its event loop. */
final class Reassembly {

    /** At the same time. A sender has no more: see {@link Outgoing}. */
    static final int MAX_MESSAGES = 1024;
    /**
     * How much all of them together may have before it has come, in bytes. Beyond that their memory grows as the bytes come,
     * which copies them again: a peer that only announces gets no memory for it. As buffers grow, each then has
     * {@link #FIRST_PART} more than has come, or as much again, up to 4 MiB.
     */
    static final int MAX_AHEAD = 16 * 1024 * 1024;
    static final int FIRST_PART = 4 * Fragments.LIMIT;

    private static final class Message {

        private final ByteBuf bytes;
        private final int total;
        private final int kind;
        private final long begin;
        /** How much it had before it came. */
        private final int ahead;

        private Message(ByteBuf bytes, int total, int kind, long begin, int ahead) {
            this.bytes = bytes;
            this.total = total;
            this.kind = kind;
            this.begin = begin;
            this.ahead = ahead;
        }
    }

    /** Is given complete messages. */
    interface Sink {

        void message(int kind, int type, ByteBuf buffer, int begin, int end);
    }

    private final ByteBufAllocator allocator;
    private final int maxMessage;
    private final Sink sink;
    private final LongObjectMap<Message> messages = new LongObjectHashMap<>();
    /** Of all of them. */
    private int ahead;

    Reassembly(ByteBufAllocator allocator, int maxMessage, Sink sink) {
        this.allocator = allocator;
        this.maxMessage = maxMessage;
        this.sink = sink;
    }

    /**
     * The rest of a message whose beginning went over an earlier connection, or was given up before there was one, is
     * thrown away: its sender is told that the message is undelivered.
     *
     * @param position of the frame in the sender's stream
     * @throws IllegalArgumentException if the frame makes no sense, or the message is too large
     */
    void fragment(int type, ByteBuf buffer, int begin, int end, long position) {
        int prefix = Fragments.HEADER - Frame.HEADER;
        if (end - begin < prefix) {
            throw new IllegalArgumentException("a fragment of " + (end - begin) + " bytes");
        }
        long number = buffer.getLongLE(begin);
        int total = buffer.getIntLE(begin + 8);
        int kindAndFirst = buffer.getIntLE(begin + 12);
        int length = end - begin - prefix;
        Message message = messages.get(number);
        if (message == null) {
            if ((kindAndFirst & Fragments.FIRST) == 0) {
                return;
            }
            if (total < length || total > maxMessage + 8L) {
                throw new IllegalArgumentException("a message of " + total + " bytes (expected: up to " + maxMessage
                        + ", which is maxMessage of this node)");
            }
            if (messages.size() >= MAX_MESSAGES) {
                throw new IllegalArgumentException("the peer is in the middle of more than " + MAX_MESSAGES + " messages");
            }
            int room = total <= MAX_AHEAD - ahead ? total : 0;
            message = new Message(allocator.directBuffer(room == 0 ? Math.min(total, FIRST_PART) : room, total), total,
                    kindAndFirst & ~Fragments.FIRST, position, room);
            messages.put(number, message);
            ahead += room;
        }
        if (length > message.total - message.bytes.writerIndex()) {
            throw new IllegalArgumentException("a fragment is longer than the rest of its message");
        }
        message.bytes.writeBytes(buffer, begin + prefix, length);
        if (message.bytes.writerIndex() == message.total) {
            messages.remove(number);
            ahead -= message.ahead;
            try {
                sink.message(message.kind, type, message.bytes, 0, message.total);
            } finally {
                message.bytes.release();
            }
        }
    }

    void abort(long number) {
        Message message = messages.remove(number);
        if (message != null) {
            ahead -= message.ahead;
            message.bytes.release();
        }
    }

    /** How far everything is complete, if it has been received up to a position. */
    long complete(long received) {
        long complete = received;
        if (!messages.isEmpty()) {
            for (Message message : messages.values()) {
                complete = Math.min(complete, message.begin);
            }
        }
        return complete;
    }

    void close() {
        messages.values().forEach(message -> message.bytes.release());
        messages.clear();
        ahead = 0;
    }
}
