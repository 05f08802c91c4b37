// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.log.client.Producer;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a leader has under way to one follower. */
class LogReplicaTest {
    private static final int RECORD = 100;
    private static final int MAX_BATCH = 1000;

    /** Keeps what is sent until it is answered by hand. */
    private static final class Slow implements Producer {
        private final List<Integer> lengths = new ArrayList<>();
        private final List<Promise<Long>> promises = new ArrayList<>();
        private final List<Long> offsets = new ArrayList<>();
        private int next;

        @Override
        public Future<Long> send(ByteBuf records) {
            offsets.add((long) next);
            for (; records.isReadable(); records.skipBytes(RECORD - Integer.BYTES)) {
                assertEquals(next++, records.readInt());
            }
            lengths.add(records.writerIndex());
            records.release();
            promises.add(ImmediateEventExecutor.INSTANCE.newPromise());
            return promises.getLast();
        }

        @Override
        public int maxLength() {
            return MAX_BATCH;
        }

        @Override
        public void close() { }
    }

    private static final class Told implements Replica.Owner {
        private int progress;
        private int failures;

        @Override
        public void progressed() {
            progress++;
        }

        @Override
        public void failed(Replica replica) {
            failures++;
        }
    }

    private final Slow producer = new Slow();
    private final Told told = new Told();
    private final Replica replica = new Replica(producer, 0, MAX_BATCH, ImmediateEventExecutor.INSTANCE, told);

    private void send(int from, int to) {
        for (var i = from; i < to; i++) {
            replica.send(ByteBuffer.allocate(RECORD).putInt(0, i), i + 1);
        }
    }

    @Test
    void whatWaitsForACreditIsWrittenInOnePiece() {
        send(0, Replica.CREDITS + 25);
        assertEquals(Replica.CREDITS, producer.lengths.size());
        assertEquals(0, replica.next());
        for (var i = 0; i < producer.promises.size(); i++) {
            producer.promises.get(i).setSuccess(producer.offsets.get(i));
        }
        assertEquals(List.of(MAX_BATCH, MAX_BATCH, 5 * RECORD),
                producer.lengths.subList(Replica.CREDITS, producer.lengths.size()));
        assertEquals(Replica.CREDITS + 25, producer.next);
        assertEquals(Replica.CREDITS + 25, replica.next());
        assertEquals(producer.promises.size(), told.progress);
        assertFalse(replica.isSilent(0));
    }

    @Test
    void oneThatLacksTooMuchHasNoRoom() {
        assertTrue(replica.hasRoom((int) Replica.MAX_LACKING));
        send(0, Replica.CREDITS + 1);
        assertFalse(replica.hasRoom((int) Replica.MAX_LACKING - Replica.CREDITS * RECORD));
        assertTrue(replica.hasRoom((int) Replica.MAX_LACKING - (Replica.CREDITS + 1) * RECORD));
        replica.close();
    }

    /** It can be this side's loop that was held up. */
    @Test
    void isSilentIfNothingComesBetweenTwoLooks() {
        send(0, 2);
        assertFalse(replica.isSilent(0));
        assertTrue(replica.isSilent(0));
        producer.promises.get(0).setSuccess(producer.offsets.get(0));
        assertFalse(replica.isSilent(TimeUnit.HOURS.toNanos(1)));
        assertFalse(replica.isSilent(0));
        assertTrue(replica.isSilent(0));
        replica.close();
    }

    @Test
    void aFailureIsToldOnceAndNothingIsWrittenBehindIt() {
        send(0, Replica.CREDITS + 5);
        producer.promises.getFirst().setFailure(new IOException("gone"));
        producer.promises.get(1).setFailure(new IOException("gone"));
        producer.promises.get(2).setSuccess(2L);
        assertEquals(1, told.failures);
        assertEquals(0, told.progress);
        assertEquals(0, replica.next());
        assertEquals(Replica.CREDITS, producer.lengths.size());
    }

    /** It has lost one: what comes behind that would be at other offsets than the leader's. */
    @Test
    void oneThatHasARecordAtAnotherOffsetHasFailed() {
        send(0, Replica.CREDITS + 5);
        producer.promises.getFirst().setSuccess(0L);
        producer.promises.get(1).setSuccess(2L);
        assertEquals(1, told.failures);
        assertEquals(1, told.progress);
        assertEquals(1, replica.next());
        assertEquals(Replica.CREDITS + 1, producer.lengths.size());
    }

    @Test
    void thePageTellsTheLimits() throws IOException {
        var page = Files.readString(Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent()
                .resolve("docs/record-log.md"));
        for (var limit : List.of("A follower has " + Replica.CREDITS + " credits", "lacks more than "
                + (Replica.MAX_LACKING >> 20) + " MiB", "one write of up to " + (Records.MAX_LENGTH >> 20) + " MiB",
                "no answer for " + BrokerSettings.DEFAULT_FOLLOWER_PATIENCE.toSeconds() + " s",
                "every " + Follower.RETRY_MILLIS + " ms")) {
            assertTrue(page.contains(limit), limit);
        }
    }
}
