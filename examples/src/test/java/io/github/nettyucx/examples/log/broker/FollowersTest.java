// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.client.Producer;
import io.github.nettyucx.examples.log.storage.Durability;
import io.github.nettyucx.examples.log.storage.PartitionLog;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who has to have the records of one partition, as a rule says it. */
class FollowersTest {
    private static final int RECORDS = 10;

    @TempDir
    private Path directory;

    /** As a cluster has it: some are in sync, whether they are there or not. */
    private static final class Chosen implements CommitRule {
        private final List<Follower> required = new ArrayList<>();
        private boolean permits = true;

        @Override
        public boolean permits(Set<Follower> present) {
            return permits;
        }

        @Override
        public Collection<Follower> required(Set<Follower> present) {
            return required;
        }

        @Override
        public void present(Follower follower) { }

        @Override
        public void lost(Follower follower) { }

        @Override
        public int inSync(Topics topics) {
            return required.size();
        }
    }

    /** Answers by hand. */
    private static final class Slow implements Producer {
        private final List<Promise<Long>> answers = new ArrayList<>();
        private boolean isWritable = true;

        @Override
        public Future<Long> send(ByteBuf records) {
            records.release();
            if (!isWritable) {
                throw new IllegalStateException("as the test wants it");
            }
            answers.add(ImmediateEventExecutor.INSTANCE.newPromise());
            return answers.getLast();
        }

        @Override
        public int maxLength() {
            return Records.MAX_LENGTH;
        }

        @Override
        public void close() { }
    }

    private final Chosen rule = new Chosen();
    private final Watermark watermark = new Watermark(0);
    private final Slow producer = new Slow();
    private final Follower first = follower(1);
    private final Follower second = follower(2);
    private PartitionLog log;
    private Followers followers;

    private Follower follower(int port) {
        return new Follower(TransportKind.UCX, new HostAndPort("127.0.0.1", port), ImmediateEventExecutor.INSTANCE,
                new Patience(Duration.ofSeconds(1)), null, rule);
    }

    @BeforeEach
    void write() throws IOException {
        log = PartitionLog.open(directory, 4096, Durability.PAGE_CACHE);
        for (var i = 0; i < RECORDS; i++) {
            append();
        }
        watermark.restart(0, RECORDS);
        followers = new Followers(log, 4096, rule, watermark, ImmediateEventExecutor.INSTANCE, () -> { });
    }

    @AfterEach
    void close() throws IOException {
        followers.forgetAll();
        log.close();
    }

    private void append() throws IOException {
        log.append(record());
    }

    private static ByteBuffer record() {
        var record = Records.encode(UnpooledByteBufAllocator.DEFAULT, new byte[20]);
        try {
            return ByteBuffer.wrap(ByteBufUtil.getBytes(record));
        } finally {
            record.release();
        }
    }

    /** An earlier leader may have acknowledged all that this one has: it does not know. */
    @Test
    void aFollowerThatLacksWhatAnEarlierLeaderMayHaveCommittedIsNotInSync() throws IOException {
        assertEquals(null, followers.follow(first, producer, 5));
        assertEquals(RECORDS, watermark.toldOf());
        assertFalse(followers.isInSync(first), "it lacks five records");
        producer.answers.getFirst().setSuccess(5L);
        assertTrue(followers.isInSync(first));
        assertFalse(followers.isInSync(second));
    }

    @Test
    void nothingIsCommittedWithoutOneThatIsRequired() throws IOException {
        rule.required.addAll(List.of(first, second));
        followers.advance();
        assertEquals(0, watermark.committed());
        followers.follow(first, producer, RECORDS);
        assertEquals(0, watermark.committed());
        followers.follow(second, producer, 8);
        assertEquals(0, watermark.committed());
        producer.answers.getFirst().setSuccess(8L);
        assertEquals(RECORDS, watermark.committed());
        // One goes, and nobody has agreed to that.
        followers.forget(first);
        append();
        followers.advance();
        assertEquals(RECORDS, watermark.committed());
    }

    @Test
    void oneThatIsNotRequiredHoldsNobodyUp() throws IOException {
        rule.required.add(first);
        followers.follow(second, producer, 3);
        followers.follow(first, producer, RECORDS);
        assertEquals(RECORDS, watermark.committed());
        assertFalse(followers.isInSync(second));
    }

    @Test
    void nothingIsCommittedUnlessTheRulePermitsIt() throws IOException {
        rule.permits = false;
        followers.follow(first, producer, RECORDS);
        followers.advance();
        assertEquals(0, watermark.committed());
        rule.permits = true;
        followers.advance();
        assertEquals(RECORDS, watermark.committed());
    }

    /** Neither the leader nor another follower has anything to do with it. */
    @Test
    void aFollowerThatCannotBeWrittenToLeaves() throws IOException {
        var other = new Slow();
        followers.follow(first, producer, RECORDS);
        followers.follow(second, other, RECORDS);
        producer.isWritable = false;
        append();
        followers.send(record());
        assertFalse(followers.has(first));
        assertTrue(followers.has(second));
        assertEquals(1, other.answers.size());
        // It comes back, and gets what it lacks.
        producer.isWritable = true;
        assertEquals(null, followers.follow(first, producer, RECORDS));
        assertEquals(1, producer.answers.size());
    }

    /** What it lacks has not been written to it: nothing may be written behind that. */
    @Test
    void aFollowerThatCannotBeWrittenToWhenItComesIsNotTaken() throws IOException {
        producer.isWritable = false;
        var before = PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
        assertThrows(IllegalStateException.class, () -> followers.follow(first, producer, 5));
        assertTrue(PooledByteBufAllocator.DEFAULT.pinnedDirectMemory() <= before);
        assertFalse(followers.has(first));
        producer.isWritable = true;
        append();
        followers.send(record());
        assertEquals(0, producer.answers.size());
        assertEquals(null, followers.follow(first, producer, 5));
        assertTrue(PooledByteBufAllocator.DEFAULT.pinnedDirectMemory() <= before);
    }

    @Test
    void aFollowerOfAnEarlierLeadershipIsNotTaken() {
        first.stop();
        assertThrows(IOException.class, () -> followers.follow(first, producer, RECORDS));
        assertFalse(followers.has(first));
    }
}
