// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.awaitRefusal;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.broker.BrokerSettings.MemoryKind;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.OrderWord;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A producer that does not do what it has to, with access to the segment that others share. */
@Timeout(60)
class ReservationTest {
    private static final int SEGMENT = 64 << 10;
    private static final Duration PATIENCE = Duration.ofMillis(200);
    /** Longer than it takes to write where others wait behind. */
    private static final Duration LONG_PATIENCE = Duration.ofSeconds(20);

    @TempDir
    private Path directory;

    private LogFixture start(MemoryKind kind, Duration patience) {
        return new LogFixture(TransportKind.UCX, BrokerSettings.in(directory).withSegmentBytes(SEGMENT)
                .withReservation(patience).withMemory(kind));
    }

    private LogFixture start(MemoryKind kind) {
        return start(kind, PATIENCE);
    }

    /** One that reserves and writes by hand. */
    private static final class Rogue extends MemoryWriter {
        final CompletableFuture<Message.Sealed> sealed = new CompletableFuture<>();
        final CompletableFuture<Throwable> failed = new CompletableFuture<>();

        Rogue(LogFixture log, int partition, AccessMode mode) throws Exception {
            super(log, partition);
            begin(mode);
        }

        /** @return what comes of it */
        Future<Message.Answer> write(long position, ByteBuf bytes, int turn) {
            return put(position, bytes, turn, granted.generation());
        }

        @Override
        public void granted(Message.Granted next) {
        }

        @Override
        public void sealed(Message.Sealed told) {
            sealed.complete(told);
        }

        @Override
        public void failed(Throwable cause) {
            failed.complete(cause);
        }
    }

    private static List<Future<Long>> send(Producer producer, int id, int count) {
        var sent = new ArrayList<Future<Long>>();
        for (var i = 0; i < count; i++) {
            sent.add(producer.send(encoded(payload(id, i, 50))));
        }
        return sent;
    }

    private static void acknowledge(LogFixture log, List<Future<Long>> sent, int id) throws Exception {
        for (var i = 0; i < sent.size(); i++) {
            log.acknowledged(await(sent.get(i)), payload(id, i, 50));
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void aPlaceThatStaysEmptyEndsTheSegmentInFrontOfIt(MemoryKind kind) throws Exception {
        try (var log = start(kind)) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var rogue = new Rogue(log, partition, AccessMode.SHARED);
            var shared = await(connection.memoryProducer(partition, AccessMode.SHARED));
            var before = send(shared, 1, 5);
            acknowledge(log, before, 1);
            var word = rogue.reserve(100);
            var begun = System.nanoTime();
            var behind = send(shared, 2, 5);
            var messages = send(log.connect().messageProducer(partition), 3, 5);
            acknowledge(log, behind, 2);
            acknowledge(log, messages, 3);
            assertTrue(System.nanoTime() - begun >= PATIENCE.toNanos(), "nobody waited for the empty place");
            var sealed = rogue.sealed.get(LogFixture.SECONDS, TimeUnit.SECONDS);
            assertEquals("TIMED_OUT", sealed.reason().name());
            assertEquals(rogue.granted.generation(), sealed.generation());
            // Too late: the memory has been revoked, or is nobody's any more.
            var late = rogue.write(OrderWord.position(word), encoded(payload(4, 0, 88)), OrderWord.turn(word));
            acknowledge(log, send(shared, 5, 5), 5);
            assertFalse(late.isDone());
            log.assertLog(log.readByMessage(connection, partition));
            log.assertLog(log.readMemory(connection, partition, 20));
            log.restart();
            connection = log.connect();
            await(connection.openTopic("orders", 1));
            log.assertLog(log.readByMessage(connection, partition));
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void aSlowProducerLosesNothing(MemoryKind kind) throws Exception {
        try (var log = start(kind, LONG_PATIENCE)) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var rogue = new Rogue(log, partition, AccessMode.SHARED);
            var word = rogue.reserve(Records.HEADER + payload(4, 0, 40).length);
            var shared = await(connection.memoryProducer(partition, AccessMode.SHARED));
            var behind = send(shared, 1, 5);
            var written = rogue.write(OrderWord.position(word), encoded(payload(4, 0, 40)), OrderWord.turn(word));
            // In time: it comes before those that have waited for it.
            log.acknowledged(((Message.Produced) await(written)).offset(), payload(4, 0, 40));
            acknowledge(log, behind, 1);
            var records = log.readByMessage(connection, partition);
            log.assertLog(records);
            assertEquals(0, ((Message.Produced) written.getNow()).offset());
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void whatIsNoRecordIsNotCommittedAndItsProducerIsSentAway(MemoryKind kind) throws Exception {
        for (var mode : AccessMode.values()) {
            for (var fault = 0; fault < 4; fault++) {
                try (var log = start(kind, LONG_PATIENCE)) {
                    var connection = log.connect();
                    var partition = await(connection.openTopic("orders-" + mode + fault, 1));
                    var rogue = new Rogue(log, partition, mode);
                    var record = encoded(payload(4, 0, 40));
                    var length = record.readableBytes();
                    var word = mode == AccessMode.SHARED ? rogue.reserve(length) : rogue.granted.position();
                    switch (fault) {
                        case 0 -> record.setByte(length - 1, record.getByte(length - 1) + 1);
                        case 1 -> record.setInt(4, length + 1);
                        case 2 -> record.writerIndex(length - 1);
                        default -> word++;
                    }
                    var behind = mode == AccessMode.SHARED
                            ? send(await(connection.memoryProducer(partition, AccessMode.SHARED)), 1, 5)
                            : List.<Future<Long>>of();
                    var refused = awaitRefusal(ErrorCode.DAMAGED,
                            rogue.write(OrderWord.position(word), record, OrderWord.turn(word)));
                    assertTrue(refused.getMessage().contains(fault == 0 ? "CRC32C" : "expected"), refused.getMessage());
                    rogue.failed.get(LogFixture.SECONDS, TimeUnit.SECONDS);
                    acknowledge(log, behind, 1);
                    if (mode == AccessMode.EXCLUSIVE) {
                        acknowledge(log, send(connection.messageProducer(partition), 1, 5), 1);
                    }
                    log.assertLog(log.readByMessage(connection, partition));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void whatIsNotToldToTheBrokerIsNotSeen(MemoryKind kind) throws Exception {
        try (var log = start(kind)) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var rogue = new Rogue(log, partition, AccessMode.EXCLUSIVE);
            var consumer = await(connection.memoryConsumer(partition, List.of(0L)));
            var record = encoded(payload(4, 0, 40));
            await(rogue.memory.put(0, record.retainedDuplicate()));
            for (var i = 0; i < 20; i++) {
                assertEquals(List.of(), await(consumer.poll()));
                assertEquals(List.of(), log.readByMessage(connection, partition));
            }
            var answer = await(rogue.write(0, record, 0));
            log.acknowledged(((Message.Produced) answer).offset(), payload(4, 0, 40));
            log.assertLog(await(consumer.poll()));
            // What is changed afterwards changes nothing either.
            await(rogue.memory.put(0, encoded(payload(5, 0, 40))));
            log.assertLog(log.readByMessage(connection, partition));
            log.assertLog(log.readMemory(connection, partition, 1));
            consumer.close();
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void aWordThatSomebodyHasWrittenToCostsTheSegmentAndNoRecord(MemoryKind kind) throws Exception {
        try (var log = start(kind)) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var rogue = new Rogue(log, partition, AccessMode.SHARED);
            var byMessage = connection.messageProducer(partition);
            acknowledge(log, send(byMessage, 1, 3), 1);
            // Another place, and a turn that nobody comes before.
            await(rogue.memory.fetchAndAdd(OrderWord.at(rogue.granted.capacity()), 8));
            acknowledge(log, send(byMessage, 2, 3), 2);
            assertEquals("DAMAGED", rogue.sealed.get(LogFixture.SECONDS, TimeUnit.SECONDS).reason().name());
            log.assertLog(log.readByMessage(connection, partition));
        }
    }
}
