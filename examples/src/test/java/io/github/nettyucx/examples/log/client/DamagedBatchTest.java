// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.awaitRefusal;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.broker.BrokerSettings.MemoryKind;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.netty.util.concurrent.Future;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is written at once is several records of several senders, and one of them is damaged. */
@Timeout(60)
class DamagedBatchTest {
    private static final int SEGMENT = 64 << 10;
    private static final int SENDS = 6;
    private static final int DAMAGED = 3;
    private static final int LENGTH = 50;

    @TempDir
    private Path directory;

    private LogFixture start(MemoryKind kind) {
        return new LogFixture(TransportKind.UCX, BrokerSettings.in(directory).withSegmentBytes(SEGMENT).withMemory(kind));
    }

    private static List<Future<Long>> send(LogConnection connection, Producer producer) throws Exception {
        var sent = new ArrayList<Future<Long>>();
        // In one turn of the event loop: the first goes by itself, and all others together.
        await(connection.loop().submit(() -> {
            for (var i = 0; i < SENDS; i++) {
                var record = encoded(payload(2, i, LENGTH));
                if (i == DAMAGED) {
                    var last = record.writerIndex() - 1;
                    record.setByte(last, record.getByte(last) + 1);
                }
                sent.add(producer.send(record));
            }
        }));
        return sent;
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void whatIsInFrontOfItIsCommittedAndWhatIsBehindIsTold(MemoryKind kind) throws Exception {
        for (var mode : AccessMode.values()) {
            try (var log = start(kind)) {
                var connection = log.connect();
                var topic = "orders-" + mode;
                var partition = await(connection.openTopic(topic, 1));
                var producer = await(connection.memoryProducer(partition, mode));
                // Into a segment that the broker has made ahead.
                log.produce(producer, 1, 0, 400, 900);
                var sent = send(connection, producer);
                for (var i = 0; i < DAMAGED; i++) {
                    log.acknowledged(await(sent.get(i)), payload(2, i, LENGTH));
                }
                for (var i = DAMAGED; i < SENDS; i++) {
                    var refused = awaitRefusal(ErrorCode.DAMAGED, sent.get(i));
                    assertTrue(refused.getMessage().contains("CRC32C that it says; 2 in front of it are committed"),
                            refused.getMessage());
                }
                // Others go on where it has ended.
                var others = log.connect();
                try (var next = await(others.memoryProducer(await(others.openTopic(topic, 1)), mode))) {
                    log.produce(next, 3, 0, 100, 900);
                }
                log.assertLog(log.readByMessage(others, partition));
                log.assertLog(log.readMemory(others, partition, log.acknowledgedCount()));
                log.restart();
                others = log.connect();
                log.assertLog(log.readByMessage(others, await(others.openTopic(topic, 1))));
            }
        }
    }

    /** The forms that tell somebody, from inside an event loop and from elsewhere. */
    @Test
    void whoIsToldIsGivenTheOffsetAndWhatHeHasGiven() throws Exception {
        try (var log = start(MemoryKind.ATTACHED)) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var exclusive = await(connection.memoryProducer(partition, AccessMode.EXCLUSIVE));
            tell(log, connection, exclusive, 1);
            exclusive.close();
            tell(log, connection, connection.messageProducer(partition), 2);
            log.assertLog(log.readByMessage(connection, partition));
            var closed = new CompletableFuture<Throwable>();
            connection.execute(() -> exclusive.send(new byte[1], (id, offset, cause) -> closed.complete(cause), 0));
            assertTrue(closed.get(LogFixture.SECONDS, TimeUnit.SECONDS) instanceof IllegalStateException);
        }
    }

    private static void tell(LogFixture log, LogConnection connection, Producer producer, int number) throws Exception {
        assertThrows(IllegalStateException.class, () -> producer.send(new byte[1], (id, offset, cause) -> { }, 0));
        var told = new ArrayList<CompletableFuture<Long>>();
        for (var i = 0; i < 2 * Batch.MAX_COUNT; i++) {
            told.add(new CompletableFuture<>());
        }
        Producer.Acknowledgement acknowledgement = (id, offset, cause) -> {
            if (cause == null) {
                told.get((int) id).complete(offset);
            } else {
                told.get((int) id).completeExceptionally(cause);
            }
        };
        connection.execute(() -> {
            for (var i = 0; i < told.size(); i++) {
                if (i % 2 == 0) {
                    producer.send(payload(number, i, LENGTH), acknowledgement, i);
                } else {
                    producer.send(encoded(payload(number, i, LENGTH)), acknowledgement, i);
                }
            }
        });
        for (var i = 0; i < told.size(); i++) {
            log.acknowledged(told.get(i).get(LogFixture.SECONDS, TimeUnit.SECONDS), payload(number, i, LENGTH));
        }
    }
}
