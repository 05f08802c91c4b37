// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.concurrent.Promise;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * What has been sent, and not been written. Small records are written several at a time, but not all that there are: while
 * the broker looks at some the producer is to make the next ones.
 */
final class Gathering {
    /** Of one write; what is larger goes by itself. */
    static final int MAX_BYTES = 16 << 10;
    static final int MAX_COUNT = 32;

    /**
     * What was sent at once.
     *
     * @param records given back when they have been copied
     * @param count of the records
     */
    record Entry(ByteBuf records, int length, int count, Promise<Long> promise) { }

    /** @param records of all entries, one behind the other; the receiver's */
    record Gathered(ByteBuf records, List<Entry> entries) { }

    private final ByteBufAllocator allocator;
    private final ArrayDeque<Entry> entries = new ArrayDeque<>();
    private long bytes;

    Gathering(ByteBufAllocator allocator) {
        this.allocator = allocator;
    }

    void add(ByteBuf records, Promise<Long> promise) {
        var length = records.readableBytes();
        entries.addLast(new Entry(records, length, count(records), promise));
        bytes += length;
    }

    /** As their lengths say; whether they are records at all is looked at by the broker. */
    private static int count(ByteBuf records) {
        var count = 0;
        var end = records.writerIndex();
        for (var at = records.readerIndex(); end - at >= Records.HEADER; count++) {
            var length = Records.length(records, at);
            if (length < Records.HEADER || length > end - at) {
                break;
            }
            at += length;
        }
        return count;
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    /** Whether there is as much as is written at once. */
    boolean isEnough() {
        return entries.size() >= MAX_COUNT || bytes >= MAX_BYTES;
    }

    /**
     * What is to be written next; there has to be something.
     *
     * @param capacity of a segment, in bytes
     * @return {@code null} if the next is longer than that, which its sender has been told
     */
    Gathered take(long capacity) {
        var first = poll();
        if (first.length > capacity) {
            first.records.release();
            first.promise.tryFailure(new BrokerException(ErrorCode.TOO_LARGE, "the records have " + first.length
                    + " bytes (expected: at most " + capacity + ", which a segment has)"));
            return null;
        }
        var limit = Math.min(capacity, MAX_BYTES);
        if (!joins(first.length, 1, limit)) {
            return new Gathered(first.records, List.of(first));
        }
        var together = new ArrayList<Entry>(Math.min(MAX_COUNT, entries.size() + 1));
        var buffer = allocator.directBuffer((int) Math.min(limit, first.length + bytes));
        for (var entry = first;; entry = poll()) {
            buffer.writeBytes(entry.records, entry.records.readerIndex(), entry.length);
            entry.records.release();
            together.add(entry);
            if (!joins(buffer.readableBytes(), together.size(), limit)) {
                return new Gathered(buffer, together);
            }
        }
    }

    /** Whether the next one has room behind so much. */
    private boolean joins(int length, int count, long limit) {
        var next = entries.peekFirst();
        return next != null && count < MAX_COUNT && length + (long) next.length <= limit;
    }

    private Entry poll() {
        var entry = entries.pollFirst();
        bytes -= entry.length;
        return entry;
    }

    void fail(Throwable cause) {
        while (!entries.isEmpty()) {
            var entry = poll();
            entry.records.release();
            entry.promise.tryFailure(cause);
        }
    }
}
