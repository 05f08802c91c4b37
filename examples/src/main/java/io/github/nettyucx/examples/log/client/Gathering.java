// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayDeque;
import java.util.zip.CRC32C;

/**
 * What has been sent, and not been written. Small records are put together as they come, but not all that there are: while
 * the broker looks at some the producer is to make the next ones.
 */
final class Gathering {
    /** Longer ones are not copied, and go by themselves. */
    private static final int MAX_COPIED = Batch.MAX_BYTES / 2;

    private final ByteBufAllocator allocator;
    private final Batch.Owner owner;
    /** What is sent may join the last one. */
    private final ArrayDeque<Batch> batches = new ArrayDeque<>();
    /** To be used again. */
    private final ArrayDeque<Batch> unused = new ArrayDeque<>();
    private final CRC32C crc = new CRC32C();

    Gathering(ByteBufAllocator allocator, Batch.Owner owner) {
        this.allocator = allocator;
        this.owner = owner;
    }

    /**
     * @param records of one send; taken over, also if there is no memory for them, and it throws
     * @param most bytes that can be written at once. Whoever sends more is told
     */
    void add(ByteBuf records, int most, Producer.Acknowledgement told, long id) {
        var length = records.readableBytes();
        if (length > most) {
            records.release();
            refuse(length, most, told, id);
            return;
        }
        var count = count(records);
        if (length > MAX_COPIED) {
            begin(records, false).add(count, told, id);
            return;
        }
        try {
            var batch = batchFor(length, most);
            batch.records().writeBytes(records, records.readerIndex(), length);
            batch.add(count, told, id);
        } finally {
            records.release();
        }
    }

    /** The same, of one record, which is made in the place from where it is written. */
    void add(byte[] payload, int most, Producer.Acknowledgement told, long id) {
        var length = Records.HEADER + (long) payload.length;
        if (length > most) {
            refuse(length, most, told, id);
        } else if (length > MAX_COPIED) {
            begin(Records.encode(allocator, payload), false).add(1, told, id);
        } else {
            var batch = batchFor((int) length, most);
            Records.encode(batch.records(), payload, crc);
            batch.add(1, told, id);
        }
    }

    static void refuse(long length, int most, Producer.Acknowledgement told, long id) {
        LogConnection.tell(told, id, 0, new BrokerException(ErrorCode.TOO_LARGE, "the records have " + length
                + " bytes (expected: at most " + most + ", which can be written at once)"));
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

    /** The last one, or one more if that has no room. */
    private Batch batchFor(int length, int most) {
        var last = batches.peekLast();
        if (last != null && last.hasRoom(length)) {
            return last;
        }
        var room = Math.min(most, Batch.MAX_BYTES);
        return begin(allocator.directBuffer(room, room), true);
    }

    private Batch begin(ByteBuf buffer, boolean joinable) {
        var batch = unused.pollLast();
        if (batch == null) {
            batch = new Batch(owner);
        }
        batch.begin(buffer, joinable);
        batches.addLast(batch);
        return batch;
    }

    boolean isEmpty() {
        return batches.isEmpty();
    }

    /** Whether there is as much as is written at once. */
    boolean isEnough() {
        return batches.size() > 1 || !batches.isEmpty() && batches.peekLast().isFull();
    }

    /**
     * What is to be written next, which is the caller's.
     *
     * @param all whether it may be one that others could still join
     * @return {@code null} if there is none
     */
    Batch take(boolean all) {
        return all || isEnough() ? batches.pollFirst() : null;
    }

    /** Nobody knows a batch any more: its records have been released, and all been told. */
    void recycle(Batch batch) {
        batch.clear();
        unused.addLast(batch);
    }

    void fail(Throwable cause) {
        for (Batch batch; (batch = batches.pollFirst()) != null;) {
            batch.release();
            batch.fail(cause);
        }
    }
}
