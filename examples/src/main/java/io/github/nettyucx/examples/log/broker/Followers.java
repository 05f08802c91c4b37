// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.log.client.Producer;
import io.github.nettyucx.examples.log.storage.LogException;
import io.github.nettyucx.examples.log.storage.PartitionLog;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Who has to have the records of one partition before they are committed. For the leader's event loop only. */
final class Followers {
    private final PartitionLog log;
    private final int segmentBytes;
    private final CommitRule rule;
    private final Watermark watermark;
    private final EventExecutor loop;
    private final Runnable committed;
    /** Of those that records are written to as they come. */
    private final Map<Follower, Replica> replicas = new HashMap<>();

    /** @param committed is run when more is committed */
    Followers(PartitionLog log, int segmentBytes, CommitRule rule, Watermark watermark, EventExecutor loop,
              Runnable committed) {
        this.log = log;
        this.segmentBytes = segmentBytes;
        this.rule = rule;
        this.watermark = watermark;
        this.loop = loop;
        this.committed = committed;
    }

    /**
     * Of records that have just been written to the leader's log. What fails here is that follower's matter: it comes back,
     * and gets what it lacks.
     */
    void send(ByteBuffer records) {
        for (var entry : List.copyOf(replicas.entrySet())) {
            if (!entry.getValue().hasRoom(records.remaining())) {
                remove(entry.getKey());
                continue;
            }
            try {
                entry.getValue().send(records, log.nextOffset());
            } catch (RuntimeException | OutOfMemoryError e) {
                System.err.println("records cannot be written to a follower: " + Explanation.of(e));
                remove(entry.getKey());
            }
        }
    }

    private void remove(Follower follower) {
        var replica = replicas.remove(follower);
        if (replica != null) {
            replica.close();
        }
    }

    /** Committed is what all have that have to: the leader, and its followers, as the rule says. */
    void advance() {
        if (!rule.permits(replicas.keySet())) {
            return;
        }
        var end = log.nextOffset();
        for (var follower : rule.required(replicas.keySet())) {
            var replica = replicas.get(follower);
            if (replica == null) {
                return;
            }
            end = Math.min(end, replica.next());
        }
        var before = watermark.committed();
        watermark.advance(end);
        if (watermark.committed() != before) {
            committed.run();
        }
    }

    /** How many bytes a follower has to take at once. Any thread may call. */
    int maxBatch() {
        return Math.min(segmentBytes, Records.MAX_LENGTH);
    }

    boolean has(Follower follower) {
        return replicas.containsKey(follower);
    }

    /** Whether a follower has all that is committed, or may have been by an earlier leader. */
    boolean isInSync(Follower follower) {
        var replica = replicas.get(follower);
        return replica != null && replica.next() >= watermark.toldOf();
    }

    /** From now on a follower is written to as records come, if it lacks no more than can be written at once. */
    Follower.Step follow(Follower follower, Producer producer, long next) throws IOException {
        if (follower.isStopped()) {
            throw new IOException("this broker does not lead any more");
        }
        var end = log.nextOffset();
        ByteBuf records = Unpooled.EMPTY_BUFFER;
        if (next < end) {
            records = Fetches.read(log.find(next), next, Integer.MAX_VALUE, maxBatch());
            var bytes = records.nioBuffer();
            var count = Records.count(bytes, bytes.position(), bytes.limit());
            if (count == 0) {
                records.release();
                throw new LogException("record " + next + " cannot be read from the leader's disk. Restart the leader.");
            }
            if (next + count < end || records.readableBytes() > maxBatch()) {
                return new Follower.Step(count, producer.send(records));
            }
        }
        var replica = new Replica(producer, next, maxBatch(), loop, new Replica.Owner() {
            @Override
            public void progressed() {
                advance();
            }

            @Override
            public void failed(Replica failed) {
                if (replicas.remove(follower, failed)) {
                    advance();
                }
            }
        });
        replicas.put(follower, replica);
        try {
            if (records.isReadable()) {
                replica.send(records.nioBuffer(), end);
            }
        } catch (RuntimeException | Error e) {
            // What comes later lies behind that, and must not be written without it.
            remove(follower);
            throw e;
        } finally {
            records.release();
        }
        if (next == end) {
            // It has all, and there may have been too few to commit it.
            advance();
        }
        return null;
    }

    /** Whether it has that record there. */
    boolean hasRecord(long offset, byte[] payload) throws IOException {
        if (offset < log.firstOffset() || offset >= log.nextOffset()) {
            return false;
        }
        var record = Fetches.read(log.find(offset), offset, Integer.MAX_VALUE, Records.HEADER);
        try {
            return record.skipBytes(Records.HEADER).equals(Unpooled.wrappedBuffer(payload));
        } finally {
            record.release();
        }
    }

    void forget(Follower follower) {
        remove(follower);
        advance();
    }

    /** Nobody is written to any more. */
    void forgetAll() {
        List.copyOf(replicas.keySet()).forEach(this::remove);
    }

    void dropIfSilent(Follower follower, long nanos) {
        var replica = replicas.get(follower);
        if (replica != null && replica.isSilent(nanos)) {
            forget(follower);
        }
    }
}
