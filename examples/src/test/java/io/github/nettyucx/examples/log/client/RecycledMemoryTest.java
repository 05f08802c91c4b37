// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.broker.BrokerSettings.MemoryKind;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.OrderWord;
import io.github.nettyucx.examples.log.protocol.SealReason;
import io.github.nettyucx.examples.log.storage.Records;
import io.github.nettyucx.memory.UcxMemoryException;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.util.concurrent.Future;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory of a full segment is used for another one, when nobody writes there any more, and in no other case. */
@Timeout(120)
class RecycledMemoryTest {
    private static final int LENGTH = 1000 + Records.HEADER;
    private static final int IN_A_SEGMENT = 4;
    /** Has room for so many, and not for one more. */
    private static final int SEGMENT = IN_A_SEGMENT * LENGTH + 100;

    @TempDir
    private Path directory;

    private LogFixture start(MemoryKind kind) {
        return new LogFixture(TransportKind.UCX, BrokerSettings.in(directory).withSegmentBytes(SEGMENT)
                .withReservation(Duration.ofSeconds(20)).withMemory(kind));
    }

    /** One that goes on from segment to segment. */
    private static final class Writer extends MemoryWriter {
        final LogFixture log;
        final int id;
        final AccessMode mode;
        final BlockingQueue<Message.Granted> grants = new LinkedBlockingQueue<>();
        final BlockingQueue<Message.Sealed> seals = new LinkedBlockingQueue<>();
        int sequence;
        long position;

        Writer(LogFixture log, int partition, int id, AccessMode mode) throws Exception {
            super(log, partition);
            this.log = log;
            this.id = id;
            this.mode = mode;
            begin(mode);
            position = granted.position();
        }

        byte[] next() {
            return payload(id, sequence++, LENGTH - Records.HEADER - 12);
        }

        /** A record, as it has to be. */
        void write() throws Exception {
            var payload = next();
            var word = mode == AccessMode.SHARED ? reserve() : OrderWord.of(0, position);
            position += LENGTH;
            var answer = (Message.Produced) await(put(OrderWord.position(word), encoded(payload), OrderWord.turn(word),
                    granted.generation()));
            log.acknowledged(answer.offset(), payload);
        }

        long reserve() throws Exception {
            return reserve(LENGTH);
        }

        void send(Message message) throws Exception {
            await(connection.loop().submit(() -> connection.handler().send(message)));
        }

        /** Finds that its next record does not fit. */
        void full() throws Exception {
            var word = mode == AccessMode.SHARED ? reserve() : OrderWord.of(0, position);
            send(new Message.Full(partition, granted.generation(), OrderWord.turn(word), OrderWord.position(word)));
        }

        Message.Sealed sealed() throws Exception {
            var sealed = seals.poll(LogFixture.SECONDS, TimeUnit.SECONDS);
            assertNotNull(sealed, "the segment is not sealed");
            assertEquals(granted.generation(), sealed.generation());
            return sealed;
        }

        void release() throws Exception {
            send(new Message.Released(partition, granted.generation()));
        }

        /** @return the key of the next segment, which it uses from now on */
        byte[] goOn() throws Exception {
            var next = grants.poll(LogFixture.SECONDS, TimeUnit.SECONDS);
            assertNotNull(next, "there is no next segment");
            assertEquals(granted.generation() + 1, next.generation());
            use(next);
            position = next.position();
            return next.key();
        }

        @Override
        public void granted(Message.Granted next) {
            grants.add(next);
        }

        @Override
        public void sealed(Message.Sealed told) {
            seals.add(told);
        }

        @Override
        public void failed(Throwable cause) {
        }
    }

    /** Fills a segment, and has the next one begin. */
    private static void fill(Writer writer, List<Writer> others) throws Exception {
        for (var i = 0; i < IN_A_SEGMENT; i++) {
            writer.write();
        }
        writer.full();
        assertEquals(SealReason.FULL, writer.sealed().reason());
        for (var other : others) {
            other.sealed();
        }
    }

    private static void assertRevoked(UcxRemoteMemory memory) throws Exception {
        // The broker says so by a message, and the answer to this comes behind it.
        for (var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LogFixture.SECONDS);;) {
            var put = memory.put(0, encoded(new byte[1])).await();
            if (!put.isSuccess()) {
                assertEquals(UcxMemoryException.Reason.REVOKED,
                        assertInstanceOf(UcxMemoryException.class, put.cause()).reason());
                return;
            }
            assertTrue(System.nanoTime() < deadline, "the access is not revoked");
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void whoHasItAloneGoesOnInTheSame(MemoryKind kind) throws Exception {
        try (var log = start(kind)) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var writer = new Writer(log, partition, 1, AccessMode.EXCLUSIVE);
            var key = writer.granted.key();
            for (var i = 0; i < 3; i++) {
                fill(writer, List.of());
                assertArrayEquals(key, writer.goOn());
            }
            // What still comes of an earlier segment is none of this one, even where the next record belongs.
            var late = writer.put(writer.position, encoded(payload(1, 1000, 10)), 0, writer.granted.generation() - 1);
            writer.write();
            assertFalse(late.isDone());
            log.assertLog(log.readByMessage(connection, partition));
            log.assertLog(log.readMemory(connection, partition, 3 * IN_A_SEGMENT + 1));
            log.restart();
            connection = log.connect();
            await(connection.openTopic("orders", 1));
            log.assertLog(log.readByMessage(connection, partition));
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void whatIsSharedIsUsedAgainWhenAllHaveSaidThatTheyAreDone(MemoryKind kind) throws Exception {
        try (var log = start(kind)) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var first = new Writer(log, partition, 1, AccessMode.SHARED);
            var second = new Writer(log, partition, 2, AccessMode.SHARED);
            var keys = new ArrayList<byte[]>(List.of(first.granted.key()));
            var memories = new ArrayList<UcxRemoteMemory>(List.of(first.memory));
            for (var i = 0; i < 5; i++) {
                fill(first, List.of(second));
                first.release();
                if (i != 2) {
                    second.release();
                }
                // Behind what they have released, by the same connections.
                await(first.connection.statistics());
                await(second.connection.statistics());
                keys.add(first.goOn());
                second.goOn();
                memories.add(first.memory);
            }
            // Two in turn, but for the third segment's: one of them has not said anything of it.
            assertArrayEquals(keys.get(0), keys.get(2));
            assertArrayEquals(keys.get(1), keys.get(3));
            assertFalse(Arrays.equals(keys.get(2), keys.get(4)));
            assertFalse(Arrays.equals(keys.get(3), keys.get(4)));
            assertRevoked(memories.get(2));
            assertArrayEquals(keys.get(3), keys.get(5));
            log.assertLog(log.readByMessage(connection, partition));
            log.assertLog(log.readMemory(connection, partition, 5 * IN_A_SEGMENT));
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void aReservationThatComesTooLateIsNoneOfALaterSegment(MemoryKind kind) throws Exception {
        try (var log = start(kind)) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var late = new Writer(log, partition, 1, AccessMode.SHARED);
            var other = new Writer(log, partition, 2, AccessMode.SHARED);
            fill(other, List.of());
            other.release();
            other.goOn();
            // As one that has not been told yet that the segment has ended.
            late.reserve();
            fill(other, List.of());
            other.release();
            other.goOn();
            assertRevoked(late.memory);
            try (var producer = await(connection.memoryProducer(partition, AccessMode.SHARED))) {
                log.produce(producer, 3, 0, 10 * IN_A_SEGMENT, 900);
            }
            log.assertLog(log.readByMessage(connection, partition));
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void whatSomebodyHasLeftIsNotUsedAgain(MemoryKind kind) throws Exception {
        try (var log = start(kind)) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var stays = new Writer(log, partition, 1, AccessMode.SHARED);
            var leaves = new Writer(log, partition, 2, AccessMode.SHARED);
            leaves.write();
            await(leaves.connection.ask(request -> new Message.Leave(request, partition)));
            var memory = stays.memory;
            for (var i = 1; i < IN_A_SEGMENT; i++) {
                stays.write();
            }
            stays.full();
            stays.sealed();
            stays.release();
            stays.goOn();
            assertRevoked(memory);
            // The next has nobody who left, but one who goes before it has said anything of it.
            var goes = new Writer(log, partition, 3, AccessMode.SHARED);
            memory = stays.memory;
            fill(stays, List.of(goes));
            goes.connection.close();
            stays.release();
            stays.goOn();
            assertRevoked(memory);
            stays.write();
            log.assertLog(log.readByMessage(connection, partition));
        }
    }

    /** Consumers find out that the memory they read is another segment's now. */
    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void consumersReadNothingOfAnotherSegment(MemoryKind kind) throws Exception {
        var records = 4000;
        try (var log = start(kind); var threads = Executors.newSingleThreadExecutor()) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var consuming = log.connect();
            var consumer = await(consuming.memoryConsumer(partition, List.of(0L)));
            var produced = threads.submit(() -> {
                try (var producer = await(connection.memoryProducer(partition, AccessMode.EXCLUSIVE))) {
                    // All of the same length: what stands at a place could be of any segment.
                    var sent = new ArrayList<Future<Long>>();
                    for (var i = 0; i < records; i++) {
                        sent.add(producer.send(encoded(payload(1, i, 200))));
                    }
                    for (var i = 0; i < records; i++) {
                        log.acknowledged(await(sent.get(i)), payload(1, i, 200));
                    }
                }
                return null;
            });
            var found = new ArrayList<LogRecord>();
            var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (found.size() < records) {
                found.addAll(await(consumer.poll()));
                assertTrue(System.nanoTime() < deadline, () -> found.size() + " records");
            }
            produced.get(LogFixture.SECONDS, TimeUnit.SECONDS);
            log.assertLog(found);
            consumer.close();
        }
    }

    @Test
    void aConsumerThroughMemoryCostsTheBrokerNothing() throws Exception {
        assertTrue(turnsOf(MemoryKind.ATTACHED, 20_000) < 100);
        // That is what is counted, where the broker has a part in it.
        assertTrue(turnsOf(MemoryKind.CHECKED, 1000) >= 1000);
    }

    /** Of the broker's event loop with something to do, while a consumer polls so often. */
    private long turnsOf(MemoryKind kind, int polls) throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, BrokerSettings.in(directory.resolve(kind.toString()))
                .withMemory(kind))) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            log.produce(connection.messageProducer(partition), 1, 0, 100, 100);
            var consuming = log.connect();
            var consumer = await(consuming.memoryConsumer(partition, List.of(0L), 1));
            // It asks where the records are, once.
            var found = new ArrayList<>(await(consumer.poll()));
            var before = await(connection.statistics());
            for (var i = 0; i < polls; i++) {
                found.addAll(await(consumer.poll()));
            }
            var after = await(connection.statistics());
            log.assertLog(found);
            consumer.close();
            return after.turns() - before.turns();
        }
    }
}
