// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.awaitRefusal;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.broker.BrokerSettings.MemoryKind;
import io.github.nettyucx.examples.log.broker.LogBroker;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.storage.Durability;
import io.netty.buffer.Unpooled;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is produced, in whichever way, is consumed, in whichever way. */
@Timeout(120)
class RecordLogTest {
    private static final int SEGMENT = 64 << 10;
    private static final int RECORDS = 1000;

    @TempDir
    private Path directory;

    private BrokerSettings settings() {
        return BrokerSettings.in(directory).withSegmentBytes(SEGMENT);
    }

    @ParameterizedTest
    @EnumSource(names = {"UCX", "NIO", "EPOLL"})
    void byMessageOverAnyTransport(TransportKind transport) throws Exception {
        try (var log = new LogFixture(transport, settings())) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 3)) + 1;
            try (var producer = connection.messageProducer(partition)) {
                log.produce(producer, 1, 0, RECORDS, 1000);
            }
            log.assertLog(log.readByMessage(connection, partition));
            assertEquals(List.of(), log.readByMessage(connection, partition - 1));
            log.restart();
            connection = log.connect();
            assertEquals(partition, await(connection.openTopic("orders", 3)) + 1);
            log.assertLog(log.readByMessage(connection, partition));
            try (var producer = connection.messageProducer(partition)) {
                log.produce(producer, 1, RECORDS, RECORDS + 10, 1000);
            }
            log.assertLog(log.readByMessage(connection, partition));
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void exclusivelyIntoTheSegment(MemoryKind kind) throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, settings().withMemory(kind))) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            try (var producer = await(connection.memoryProducer(partition, AccessMode.EXCLUSIVE))) {
                log.produce(producer, 1, 0, RECORDS, 1000);
            }
            log.assertLog(log.readByMessage(connection, partition));
            log.assertLog(log.readMemory(connection, partition, RECORDS));
            log.restart();
            connection = log.connect();
            partition = await(connection.openTopic("orders", 1));
            log.assertLog(log.readMemory(connection, partition, RECORDS));
        }
    }

    @Test
    void whoHasAPartitionForItselfKeepsOthersOutUntilItLeaves() throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, settings())) {
            var connection = log.connect();
            var other = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var holder = await(connection.memoryProducer(partition, AccessMode.EXCLUSIVE));
            log.produce(holder, 1, 0, 10, 100);
            awaitRefusal(ErrorCode.HELD, other.memoryProducer(partition, AccessMode.EXCLUSIVE));
            awaitRefusal(ErrorCode.HELD, other.memoryProducer(partition, AccessMode.SHARED));
            awaitRefusal(ErrorCode.HELD, other.messageProducer(partition).send(encoded(payload(2, 0, 1))));
            holder.close();
            log.produce(other.messageProducer(partition), 2, 0, 10, 100);
            var shared = await(other.memoryProducer(partition, AccessMode.SHARED));
            awaitRefusal(ErrorCode.HELD, connection.memoryProducer(partition, AccessMode.EXCLUSIVE));
            awaitRefusal(ErrorCode.BAD_REQUEST, other.memoryProducer(partition, AccessMode.SHARED));
            log.produce(shared, 2, 10, 20, 100);
            shared.close();
            // One that ends without a word has left as well.
            await(connection.memoryProducer(partition, AccessMode.EXCLUSIVE));
            connection.close();
            var third = log.connect();
            Producer next = null;
            for (var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LogFixture.SECONDS); next == null;) {
                var asked = third.memoryProducer(partition, AccessMode.EXCLUSIVE).await();
                next = asked.isSuccess() ? asked.getNow() : null;
                assertTrue(System.nanoTime() < deadline, () -> "still held: " + asked.cause());
            }
            log.produce(next, 3, 0, 10, 100);
            log.assertLog(log.readByMessage(other, partition));
        }
    }

    /** It gives up its access, and nothing else that its connection has asked for. */
    @ParameterizedTest
    @EnumSource(AccessMode.class)
    void aProducerThatLeavesEndsNoPollOfItsConnection(AccessMode mode) throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, settings())) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var polled = connection.messageConsumer(partition, 0).poll(60_000);
            await(connection.memoryProducer(partition, mode)).close();
            log.produce(connection.messageProducer(partition), 1, 0, 1, 100);
            log.assertLog(await(polled));
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void sharedByFiveAndByMessagesInBetween(MemoryKind kind) throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, settings().withMemory(kind));
             var threads = Executors.newFixedThreadPool(6)) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var tasks = new ArrayList<Callable<Void>>();
            var producers = new ArrayList<Producer>();
            for (var i = 0; i < 6; i++) {
                var own = log.connect();
                producers.add(i == 5 ? own.messageProducer(partition)
                        : await(own.memoryProducer(partition, AccessMode.SHARED)));
            }
            for (var i = 0; i < 6; i++) {
                var id = i;
                tasks.add(() -> {
                    try (var producer = producers.get(id)) {
                        log.produce(producer, id, 0, RECORDS / 2, 1000);
                    }
                    return null;
                });
            }
            for (var done : threads.invokeAll(tasks)) {
                done.get(LogFixture.SECONDS, TimeUnit.SECONDS);
            }
            assertEquals(RECORDS * 3, log.acknowledgedCount());
            log.assertLog(log.readByMessage(connection, partition));
            log.assertLog(log.readMemory(connection, partition, RECORDS * 3));
        }
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void memoryIsReadWhileItIsWritten(MemoryKind kind) throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, settings().withMemory(kind));
             var threads = Executors.newFixedThreadPool(2)) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 2));
            var consuming = log.connect();
            var consumer = await(consuming.memoryConsumer(partition, List.of(0L, 0L)));
            var produced = threads.submit(() -> {
                for (var i = 0; i < 4; i++) {
                    // One in memory, one by message, of segments that come and go.
                    var mode = i % 2 == 0 ? AccessMode.EXCLUSIVE : AccessMode.SHARED;
                    try (var producer = await(connection.memoryProducer(partition, mode))) {
                        log.produce(producer, i, 0, RECORDS / 4, 1000);
                    }
                }
                return null;
            });
            var records = new ArrayList<LogRecord>();
            var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LogFixture.SECONDS);
            while (records.size() < RECORDS) {
                for (var record : await(consumer.poll())) {
                    assertEquals(partition, record.partition());
                    records.add(record);
                }
                assertTrue(System.nanoTime() < deadline, () -> records.size() + " records");
            }
            produced.get(LogFixture.SECONDS, TimeUnit.SECONDS);
            log.assertLog(records);
            try (var producer = connection.messageProducer(partition + 1)) {
                await(producer.send(encoded(payload(9, 0, 5))));
            }
            var others = new ArrayList<LogRecord>();
            while (others.isEmpty()) {
                others.addAll(await(consumer.poll()));
                assertTrue(System.nanoTime() < deadline, "the second partition is not read");
            }
            assertEquals(partition + 1, others.getFirst().partition());
            assertEquals(0, others.getFirst().offset());
            assertEquals(1, consumer.offset(partition + 1));
            consumer.close();
        }
    }

    @Test
    void aConsumerWaitsForARecord() throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, settings())) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var consumer = connection.messageConsumer(partition, 0);
            assertEquals(List.of(), await(consumer.poll(20)));
            var polled = consumer.poll(30_000);
            log.produce(connection.messageProducer(partition), 1, 0, 1, 10);
            log.assertLog(await(polled));
            assertEquals(1, consumer.offset());
        }
    }

    @Test
    void largeRecordsAndSeveralAtOnce() throws Exception {
        var settings = settings().withSegmentBytes(3 << 20).withDurability(Durability.DISK);
        try (var log = new LogFixture(TransportKind.UCX, settings)) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var producers = List.of(connection.messageProducer(partition),
                    await(connection.memoryProducer(partition, AccessMode.SHARED)));
            for (var producer : producers) {
                var id = producers.indexOf(producer);
                log.produce(producer, id, 0, 20, 1_000_000);
                var first = payload(id, 20, 100);
                var second = payload(id, 21, 200);
                var offset = await(producer.send(Unpooled.wrappedBuffer(encoded(first), encoded(second))));
                log.acknowledged(offset, first);
                log.acknowledged(offset + 1, second);
            }
            log.assertLog(log.readByMessage(connection, partition));
            log.assertLog(log.readMemory(connection, partition, 44));
        }
    }

    @Test
    void whatCannotBeIsRefusedInWords() throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, settings())) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 2));
            Stream.of("", "a/b", "..", "x".repeat(101)).forEach(name -> assertThrows(AssertionError.class,
                    () -> await(connection.openTopic(name, 1))));
            assertTrue(awaitRefusal(ErrorCode.BAD_REQUEST, connection.openTopic("orders", 3)).getMessage()
                    .contains("topic orders has 2 partitions, and 3 were asked for"));
            awaitRefusal(ErrorCode.BAD_REQUEST, connection.openTopic("many", 511));
            awaitRefusal(ErrorCode.UNKNOWN_PARTITION, connection.messageProducer(2).send(encoded(new byte[1])));
            awaitRefusal(ErrorCode.UNKNOWN_PARTITION, connection.memoryProducer(-1, AccessMode.SHARED));
            awaitRefusal(ErrorCode.OUT_OF_RANGE, connection.messageConsumer(partition, 1).poll(0));
            awaitRefusal(ErrorCode.OUT_OF_RANGE, connection.messageConsumer(partition, -1).poll(0));
            var consumer = await(connection.memoryConsumer(partition, List.of(5L)));
            assertTrue(awaitRefusal(ErrorCode.OUT_OF_RANGE, consumer.poll()).getMessage()
                    .contains("there is no record 5"));
            consumer.close();
            var damaged = encoded(payload(1, 1, 10));
            damaged.setByte(20, damaged.getByte(20) + 1);
            assertTrue(awaitRefusal(ErrorCode.DAMAGED, connection.messageProducer(partition).send(damaged)).getMessage()
                    .contains("does not have the CRC32C that it says"));
            var tooLarge = encoded(new byte[SEGMENT]);
            awaitRefusal(ErrorCode.TOO_LARGE, connection.messageProducer(partition).send(tooLarge.retainedDuplicate()));
            try (var producer = await(connection.memoryProducer(partition, AccessMode.EXCLUSIVE))) {
                awaitRefusal(ErrorCode.TOO_LARGE, producer.send(tooLarge));
                log.produce(producer, 1, 0, 3, 10);
            }
            log.assertLog(log.readByMessage(connection, partition));
            var second = assertThrows(ExampleFailure.class, () -> LogBroker.start(TransportKind.NIO,
                    new HostAndPort("127.0.0.1", 0), settings()));
            assertTrue(second.getMessage().contains("belongs to a broker that is running"), second.getMessage());
        }
    }

    @Test
    void withoutUcxThereIsNoAccessToMemory() throws Exception {
        try (var log = new LogFixture(TransportKind.NIO, settings())) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            awaitRefusal(ErrorCode.UNSUPPORTED, connection.memoryProducer(partition, AccessMode.SHARED));
            awaitRefusal(ErrorCode.UNSUPPORTED, connection.memoryConsumer(partition, List.of(0L)));
        }
    }

    @Test
    void aBrokerThatFindsDamageDoesNotStart() throws Exception {
        try (var log = new LogFixture(TransportKind.NIO, settings())) {
            var connection = log.connect();
            log.produce(connection.messageProducer(await(connection.openTopic("orders", 1))), 1, 0, RECORDS, 1000);
        }
        var first = directory.resolve("orders/0/00000000000000000000.log");
        var bytes = Files.readAllBytes(first);
        bytes[100] ^= 1;
        Files.write(first, bytes);
        var refused = assertThrows(ExampleFailure.class, () -> new LogFixture(TransportKind.NIO, settings()));
        assertTrue(refused.getMessage().contains("00000000000000000000.log is damaged at byte"), refused.getMessage());
    }

    @Test
    void settingsThatMakeNoSenseAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> settings().withSegmentBytes(7));
        assertThrows(IllegalArgumentException.class, () -> settings().withReservation(Duration.ZERO));
    }
}
