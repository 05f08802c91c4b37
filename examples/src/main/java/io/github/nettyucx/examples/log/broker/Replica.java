// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.client.Producer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;

/**
 * A partition at a follower that has all records which the leader has, and is written to by the leader as they come. For the
 * leader's event loop only.
 */
final class Replica {
    /** Writes that may be under way. What comes then waits, and is written in one piece when an answer has come. */
    static final int CREDITS = 16;
    /** A follower that lacks more leaves the set, so that it does not take the leader's memory. */
    static final long MAX_LACKING = 64 << 20;

    /** What is told of it, on the leader's event loop. */
    interface Owner {
        /** It has more records. */
        void progressed();

        /** It has not, and will not. */
        void failed(Replica replica);
    }

    /** Records that wait for a credit. */
    private static final class Batch {
        private final ByteBuf records;
        private long end;

        Batch(ByteBuf records, long end) {
            this.records = records;
            this.end = end;
        }
    }

    private final Producer producer;
    private final int maxBatch;
    private final EventExecutor loop;
    private final Owner owner;
    private final ArrayDeque<Batch> waiting = new ArrayDeque<>();
    private long next;
    /** The offset behind the last record that has been written. */
    private long written;
    private int underWay;
    private long lacking;
    private long lastAnswer;
    /** At the last look. */
    private boolean silent;
    private boolean closed;

    /**
     * @param next the offset of the next record that it needs
     * @param maxBatch how many bytes may be written at once
     * @param loop the leader's
     */
    Replica(Producer producer, long next, int maxBatch, EventExecutor loop, Owner owner) {
        this.producer = producer;
        this.next = next;
        written = next;
        this.maxBatch = maxBatch;
        this.loop = loop;
        this.owner = owner;
    }

    /** Of the first record that it is not known to have. */
    long next() {
        return next;
    }

    /** Whether it may lack so many bytes more. */
    boolean hasRoom(int bytes) {
        return lacking + bytes <= MAX_LACKING;
    }

    /**
     * Whether something is under way, and nothing has been answered for so long; told by the second look in a row. If the loop itself
     * was held up, it takes what has come in between.
     */
    boolean isSilent(long nanos) {
        var before = silent;
        silent = underWay > 0 && System.nanoTime() - lastAnswer > nanos;
        return before && silent;
    }

    /**
     * @param records contiguous, and right behind those before; copied
     * @param end the offset behind the last
     */
    void send(ByteBuffer records, long end) {
        var bytes = records.remaining();
        lacking += bytes;
        if (underWay < CREDITS) {
            write(copy(records), end);
            return;
        }
        var last = waiting.peekLast();
        if (last != null && last.records.readableBytes() + bytes <= maxBatch) {
            last.records.writeBytes(records.duplicate());
            last.end = end;
        } else {
            waiting.addLast(new Batch(copy(records), end));
        }
    }

    private static ByteBuf copy(ByteBuffer records) {
        return PooledByteBufAllocator.DEFAULT.directBuffer(records.remaining()).writeBytes(records.duplicate());
    }

    private void write(ByteBuf records, long end) {
        var bytes = records.readableBytes();
        var from = written;
        written = end;
        if (underWay++ == 0) {
            lastAnswer = System.nanoTime();
        }
        producer.send(records).addListener((Future<Long> sent) -> {
            try {
                loop.execute(() -> answered(sent, from, bytes, end));
            } catch (RejectedExecutionException e) {
                // The leader ends: nobody asks any more.
            }
        });
    }

    private void answered(Future<Long> sent, long from, int bytes, long end) {
        if (closed) {
            return;
        }
        if (sent.isSuccess() && sent.getNow() != from) {
            System.err.println("a follower has record " + from + " as record " + sent.getNow());
        }
        if (!sent.isSuccess() || sent.getNow() != from) {
            close();
            owner.failed(this);
            return;
        }
        underWay--;
        lacking -= bytes;
        lastAnswer = System.nanoTime();
        next = end;
        var batch = waiting.pollFirst();
        if (batch != null) {
            write(batch.records, batch.end);
        }
        owner.progressed();
    }

    /** Nothing more is written. What is under way may still come to be there. */
    void close() {
        closed = true;
        waiting.forEach(batch -> batch.records.release());
        waiting.clear();
    }
}
