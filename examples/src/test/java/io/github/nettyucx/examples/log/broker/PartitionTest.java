// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings.MemoryKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings.MemorySource;
import io.github.nettyucx.examples.log.client.Producer;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.storage.Durability;
import io.github.nettyucx.examples.log.storage.EpochHistory;
import io.github.nettyucx.examples.log.storage.PartitionLog;
import io.github.nettyucx.examples.log.storage.Records;
import io.github.nettyucx.memory.UcxMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PartitionTest implements Peer {
    private static final int SEGMENT = 1000;
    private static final int PAYLOAD = 600;
    private static final CommitRule RULE = new FixedLeader(0);

    @TempDir
    private Path directory;
    private final List<Message> sent = new ArrayList<>();

    @Override
    public void send(Message message) {
        sent.add(message);
    }

    @Override
    public void disconnect() {
        throw new AssertionError("sent away");
    }

    private static ByteBuf record() {
        return Records.encode(UnpooledByteBufAllocator.DEFAULT, new byte[PAYLOAD]);
    }

    private Partition partition(int segmentBytes) throws IOException {
        return partition(segmentBytes, RULE);
    }

    private Partition partition(int segmentBytes, CommitRule rule) throws IOException {
        return partition(segmentBytes, rule, MemoryKind.ATTACHED);
    }

    private Partition partition(int segmentBytes, CommitRule rule, MemorySource memory) throws IOException {
        var settings = BrokerSettings.in(directory).withSegmentBytes(segmentBytes).withMemory(memory);
        return new Partition(0, PartitionLog.open(directory, segmentBytes, Durability.PAGE_CACHE),
                EpochHistory.open(directory, Durability.PAGE_CACHE), settings, rule, ImmediateEventExecutor.INSTANCE,
                new Slots(settings), new IdentityHashMap<>());
    }

    /** For want of memory, for example. */
    private static final class Unwritable implements Producer {
        @Override
        public Future<Long> send(ByteBuf records) {
            records.release();
            throw new OutOfMemoryError("as the test wants it");
        }

        @Override
        public int maxLength() {
            return Records.MAX_LENGTH;
        }

        @Override
        public void close() { }
    }

    @Test
    void theLeaderWritesARecordOnceWhateverBecomesOfAFollower() throws Exception {
        var partition = partition(2 * SEGMENT);
        try {
            var follower = new Follower(TransportKind.UCX, new HostAndPort("127.0.0.1", 1), ImmediateEventExecutor.INSTANCE,
                    new Patience(Duration.ofSeconds(1)), null, RULE);
            assertEquals(null, partition.followers().follow(follower, new Unwritable(), 0));
            partition.produce(this, 1, record());
            partition.produce(this, 2, record());
            assertEquals(List.of(new Message.Produced(1, 0), new Message.Produced(2, 1)), sent);
            assertEquals(2, partition.history().end());
        } finally {
            partition.close();
        }
    }

    /** Its files have failed in between two segments. Of brokers that choose their leader another one can take records. */
    @Test
    void aPartitionThatTakesNoRecordsIsNotLed() throws Exception {
        var partition = partition(SEGMENT);
        try {
            partition.lead(1);
            partition.produce(this, 1, record());
            assertEquals(new Message.Produced(1, 0), sent.getLast());
            // In the place of the next segment.
            Files.createDirectory(directory.resolve("00000000000000000001.log"));
            partition.produce(this, 2, record());
            assertEquals(ErrorCode.STORAGE, assertInstanceOf(Message.Failed.class, sent.getLast()).code());
            partition.follow();
            assertThrows(IOException.class, () -> partition.lead(2));
        } finally {
            partition.close();
        }
    }

    /** Behind its end there may be records that it could not write completely: they are not to come into another epoch. */
    @Test
    void aPartitionThatTakesNoRecordsAdoptsNothing() throws Exception {
        var partition = partition(SEGMENT);
        try {
            partition.lead(1);
            partition.produce(this, 1, record());
            Files.createDirectory(directory.resolve("00000000000000000001.log"));
            partition.produce(this, 2, record());
            assertEquals(ErrorCode.STORAGE, assertInstanceOf(Message.Failed.class, sent.getLast()).code());
            var leaders = new History(1, List.of(new EpochHistory.Entry(1, 0), new EpochHistory.Entry(2, 1)));
            assertThrows(IOException.class, () -> partition.adopt(leaders));
            assertEquals(1, partition.lastEpoch());
        } finally {
            partition.close();
        }
    }

    /** What kept it from being led has gone. */
    @Test
    void aPartitionThatCouldNotBeLedTakesRecordsAgain() throws Exception {
        var partition = partition(SEGMENT);
        try {
            partition.lead(1);
            partition.produce(this, 1, record());
            var obstacle = Files.createDirectory(directory.resolve("00000000000000000001.log"));
            assertThrows(IOException.class, () -> partition.lead(2));
            assertThrows(IOException.class, () -> partition.lead(3));
            Files.delete(obstacle);
            partition.follow();
            partition.access(this, 2, AccessMode.EXCLUSIVE);
            assertEquals(0, assertInstanceOf(Message.Granted.class, sent.getLast()).position());
            partition.gone(this);
            partition.produce(this, 3, record());
            assertEquals(new Message.Produced(3, 1), sent.getLast());
            partition.lead(4);
            partition.produce(this, 4, record());
            assertEquals(new Message.Produced(4, 2), sent.getLast());
        } finally {
            partition.close();
        }
    }

    /** Commits when it is told to. */
    private static final class Later implements CommitRule {
        private boolean permits;

        @Override
        public boolean permits(Set<Follower> present) {
            return permits;
        }

        @Override
        public Collection<Follower> required(Set<Follower> present) {
            return List.of();
        }

        @Override
        public void present(Follower follower) { }

        @Override
        public void lost(Follower follower) { }

        @Override
        public int inSync(Topics topics) {
            return 0;
        }
    }

    /** Another one, with what it has been told. */
    private static final class Other implements Peer {
        private final List<Message> sent = new ArrayList<>();

        @Override
        public void send(Message message) {
            sent.add(message);
        }

        @Override
        public void disconnect() {
            throw new AssertionError("sent away");
        }
    }

    private static List<Integer> granted(List<Message> sent) {
        return sent.stream().filter(Message.Granted.class::isInstance).map(message -> ((Message.Granted) message).request())
                .toList();
    }

    private static ErrorCode fault(Message message, int request) {
        var failed = assertInstanceOf(Message.Failed.class, message);
        assertEquals(request, failed.request());
        return failed.code();
    }

    /** Two share the partition by request 1. The second one's record of request 3 does not fit into the segment any more. */
    private void shareAndFill(Partition partition, Other other) {
        partition.access(this, 1, AccessMode.SHARED);
        partition.access(other, 1, AccessMode.SHARED);
        partition.produce(other, 2, record());
        partition.produce(other, 3, record());
    }

    /** They are told when all before it is committed. One has left till then, and has come again. */
    @Test
    void aSegmentIsGrantedOnceToEachOfThoseWhoShareIt() throws Exception {
        var rule = new Later();
        var partition = partition(SEGMENT, rule);
        try {
            var other = new Other();
            shareAndFill(partition, other);
            partition.leave(this, 4);
            partition.access(this, 5, AccessMode.SHARED);
            assertEquals(List.of(1, 5), granted(sent));
            assertEquals(List.of(1), granted(other.sent));
            rule.permits = true;
            partition.followers().advance();
            assertEquals(List.of(1, 5), granted(sent));
            assertEquals(List.of(1, Message.UNASKED), granted(other.sent));
        } finally {
            partition.close();
        }
    }

    @Test
    void nobodyGetsMemoryOfASegmentThatCannotBeMade() throws Exception {
        var partition = partition(PAYLOAD + Records.HEADER);
        try {
            partition.produce(this, 1, record());
            assertEquals(new Message.Produced(1, 0), sent.getLast());
            Files.createDirectory(directory.resolve("00000000000000000001.log"));
            for (var mode : AccessMode.values()) {
                partition.access(this, 2, mode);
                assertEquals(ErrorCode.STORAGE, fault(sent.getLast(), 2));
            }
            partition.gone(this);
        } finally {
            partition.close();
        }
    }

    @Test
    void thoseForWhoseMemoryThereIsNoRoomAreToldAndRecordsComeByMessage() throws Exception {
        var left = new AtomicInteger(1);
        var partition = partition(SEGMENT, RULE, (length, rights) -> {
            if (left.getAndDecrement() <= 0) {
                throw new OutOfMemoryError("as the test wants it");
            }
            return UcxMemory.allocateChecked(length, rights);
        });
        try {
            var other = new Other();
            // The next segment needs memory of its own.
            shareAndFill(partition, other);
            assertEquals(List.of(1), granted(sent));
            assertEquals(ErrorCode.NO_MEMORY, assertInstanceOf(Message.Denied.class, sent.getLast()).code());
            assertInstanceOf(Message.Sealed.class, sent.get(sent.size() - 2));
            assertEquals(List.of(1), granted(other.sent));
            var denied = assertInstanceOf(Message.Denied.class, other.sent.get(other.sent.size() - 2));
            assertEquals(ErrorCode.NO_MEMORY, denied.code());
            assertEquals(new Message.Produced(3, 1), other.sent.getLast());
            partition.gone(other);
            for (var mode : AccessMode.values()) {
                partition.access(this, 4, mode);
                assertEquals(ErrorCode.NO_MEMORY, fault(sent.getLast(), 4));
            }
            partition.locate(this, 5, 1);
            assertEquals(ErrorCode.NO_MEMORY, fault(sent.getLast(), 5));
            left.set(1);
            partition.access(this, 6, AccessMode.EXCLUSIVE);
            assertEquals(List.of(1, 6), granted(sent));
        } finally {
            partition.close();
        }
    }
}
