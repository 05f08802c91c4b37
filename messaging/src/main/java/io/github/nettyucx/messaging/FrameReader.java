// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/** Finds frames in a stream of bytes. A frame that comes in several pieces is collected; others are read where they are. */
final class FrameReader {

    /** Of a frame, in bytes: more than {@link Fragments#LIMIT}, the longest of this version, for those of others. */
    static final int MAX_FRAME = 1024 * 1024;
    /** Of the first frame, which anybody may send: more than a HELLO has, so that one of another version is told. */
    static final int MAX_FIRST = 256;

    /** Is given frames. */
    interface Sink {

        /**
         * @param word  the frame's first
         * @param begin of what follows the word, in the buffer
         * @param end   behind the frame
         */
        void frame(long word, ByteBuf buffer, int begin, int end);
    }

    private final ByteBufAllocator allocator;
    private final Sink sink;
    /** The beginning of a frame, or empty. */
    private ByteBuf carry;
    private int maxFrame = MAX_FIRST;

    FrameReader(ByteBufAllocator allocator, Sink sink) {
        this.allocator = allocator;
        this.sink = sink;
    }

    /** The first frame was a good one: others may be as long as any. */
    void trust() {
        maxFrame = MAX_FRAME;
    }

    /**
     * Takes all bytes of a buffer, which stays the caller's.
     *
     * @throws IllegalArgumentException if they are no frames; then the rest of the stream makes no sense
     */
    void read(ByteBuf in) {
        if (carry != null && carry.isReadable() && !complete(in)) {
            return;
        }
        int at = in.readerIndex();
        int end = in.writerIndex();
        while (end - at >= Frame.HEADER) {
            long word = in.getLongLE(at);
            int size = size(word);
            if (size > end - at) {
                break;
            }
            frame(word, in, at);
            at += size;
        }
        if (at < end) {
            carry(Math.max(end - at, Frame.HEADER)).writeBytes(in, at, end - at);
        }
    }

    /** @return whether the frame that had begun is complete */
    private boolean complete(ByteBuf in) {
        if (!fill(in, Frame.HEADER)) {
            return false;
        }
        long word = carry.getLongLE(0);
        int size = size(word);
        carry(size);
        if (!fill(in, size)) {
            return false;
        }
        ByteBuf complete = carry;
        frame(word, complete, 0);
        complete.clear();
        if (complete.refCnt() > 1) {
            // Somebody has kept a part of it.
            complete.release();
            carry = null;
        }
        return true;
    }

    private boolean fill(ByteBuf in, int size) {
        int missing = size - carry.readableBytes();
        if (missing > 0) {
            carry.writeBytes(in, Math.min(missing, in.readableBytes()));
        }
        return carry.readableBytes() >= size;
    }

    private ByteBuf carry(int size) {
        if (carry == null) {
            carry = allocator.directBuffer(Math.max(size, MAX_FIRST));
        }
        return carry.ensureWritable(size - carry.readableBytes() > 0 ? size - carry.readableBytes() : 0);
    }

    private int size(long word) {
        int length = Frame.length(word);
        if (Frame.kind(word) == Frame.PAD) {
            if (length < Frame.HEADER || length >= Ring.MAX_CAPACITY || length % Frame.ALIGNMENT != 0) {
                throw new IllegalArgumentException("a PAD of " + length + " bytes (expected: a multiple of " + Frame.ALIGNMENT
                        + ", below " + Ring.MAX_CAPACITY + ')');
            }
            return Frame.HEADER;
        }
        if (length < Frame.HEADER || length > maxFrame) {
            throw new IllegalArgumentException("a frame of " + length + " bytes (expected: " + Frame.HEADER + " to "
                    + maxFrame + "): the peer does not speak this protocol");
        }
        return Frame.aligned(length);
    }

    private void frame(long word, ByteBuf buffer, int at) {
        sink.frame(word, buffer, at + Frame.HEADER, at + Frame.length(word));
    }

    void close() {
        if (carry != null) {
            carry.release();
            carry = null;
        }
    }
}
