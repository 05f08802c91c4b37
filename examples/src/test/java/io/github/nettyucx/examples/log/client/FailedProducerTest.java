// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.broker.BrokerSettings.MemoryKind;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.SealReason;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A producer of which an operation on memory fails, for want of memory for example, while its connection goes on. */
@Timeout(60)
class FailedProducerTest {
    /** Two are more than what is copied. */
    private static final int PIECE = Batch.MAX_BYTES / 2;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void itsAccessEnds(MemoryKind kind) throws Exception {
        for (var mode : AccessMode.values()) {
            var settings = BrokerSettings.in(directory.resolve(mode.name())).withMemory(kind);
            try (var log = new LogFixture(TransportKind.UCX, settings)) {
                var connection = log.connect();
                var partition = await(connection.openTopic("orders", 1));
                var producer = (MemoryProducer) await(connection.memoryProducer(partition, mode));
                log.produce(producer, 1, 0, 10, 100);
                var failure = new IOException("as the test wants it");
                var sent = await(connection.loop().submit(() -> {
                    Future<Long> last = producer.send(encoded(payload(1, 10, 50)));
                    producer.done(failure);
                    return last;
                }));
                assertTrue(sent.await(LogFixture.SECONDS, TimeUnit.SECONDS));
                assertEquals(failure, sent.cause());
                producer.close();
                assertTrue(connection.isOpen());

                // By this connection and by others.
                for (var next : new LogConnection[] {connection, log.connect()}) {
                    var another = await(next.memoryProducer(partition, AccessMode.EXCLUSIVE));
                    await(another.send(encoded(payload(2, 0, 50))));
                    another.close();
                }
                // Of what had been written when it failed it is not known.
                var count = log.readByMessage(connection, partition).size();
                assertTrue(count == 12 || count == 13, () -> count + " records");
            }
        }
    }

    /** The offset that it would have had is not to be that of the record behind it. */
    @ParameterizedTest
    @EnumSource(AccessMode.class)
    void nothingIsWrittenBehindARecordForWhichThereIsNoMemory(AccessMode mode) throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, BrokerSettings.in(directory))) {
            var connection = log.connect();
            var scarce = new ScarceAllocator(Batch.MAX_BYTES);
            connection.channel().config().setAllocator(scarce);
            var partition = await(connection.openTopic("orders", 1));
            for (var payloads : new boolean[] {false, true}) {
                var producer = await(connection.memoryProducer(partition, mode));
                var before = log.acknowledgedCount();
                log.produce(producer, 1, before, before + 1, 100);
                scarce.fails = true;
                var records = encoded(payload(2, 0, 50));
                Promise<Long> told = connection.newPromise();
                if (payloads) {
                    records.release();
                    connection.execute(() -> producer.send(payload(2, 0, 50), LogConnection.telling(told), 0));
                }
                var sent = payloads ? told : producer.send(records);
                var behind = producer.send(encoded(payload(2, 1, 50)));
                for (var one : List.of(sent, behind)) {
                    assertTrue(one.await(LogFixture.SECONDS, TimeUnit.SECONDS), "nothing came of it");
                    assertEquals(scarce.failure, one.cause());
                }
                assertEquals(0, records.refCnt());
                producer.close();
            }
            assertTrue(connection.isOpen());
            try (var another = await(connection.memoryProducer(partition, mode))) {
                log.produce(another, 3, 0, 1, 100);
            }
            log.assertLog(log.readByMessage(connection, partition));
        }
    }

    /** Its bytes cannot be had, and it cannot be given back. */
    @ParameterizedTest
    @CsvSource({"EXCLUSIVE, ATTACHED", "EXCLUSIVE, CHECKED", "SHARED, ATTACHED", "SHARED, CHECKED"})
    void recordsOfWhichAPieceHasBeenReleasedFail(AccessMode mode, MemoryKind kind) throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, BrokerSettings.in(directory).withMemory(kind))) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var producer = await(connection.memoryProducer(partition, mode));
            log.produce(producer, 1, 0, 1, 100);
            var records = encoded(new byte[2 * PIECE - Records.HEADER]);
            var last = Unpooled.directBuffer(PIECE).writeBytes(records, PIECE, PIECE);
            var pieces = Unpooled.compositeBuffer()
                    .addComponent(true, Unpooled.directBuffer(PIECE).writeBytes(records, PIECE)).addComponent(true, last);
            records.release();
            last.release();
            var sent = producer.send(pieces);
            var behind = producer.send(encoded(payload(2, 1, 50)));
            for (var one : List.of(sent, behind)) {
                assertTrue(one.await(LogFixture.SECONDS, TimeUnit.SECONDS), "nothing came of it");
                assertInstanceOf(IllegalReferenceCountException.class, one.cause());
            }
            // Nor when it has ended already.
            var late = producer.send(last);
            assertTrue(late.await(LogFixture.SECONDS, TimeUnit.SECONDS), "nothing came of it");
            assertInstanceOf(IllegalReferenceCountException.class, late.cause());
            producer.close();
            assertTrue(connection.isOpen());
            for (var next : new LogConnection[] {connection, log.connect()}) {
                try (var another = await(next.memoryProducer(partition, AccessMode.EXCLUSIVE))) {
                    var before = log.acknowledgedCount();
                    log.produce(another, 3, before, before + 1, 100);
                }
            }
            log.assertLog(log.readByMessage(connection, partition));
        }
    }

    /**
     * A place is being reserved for it, and it has not been written: nobody answers.
     *
     * @param sealed whether the broker has said that the segment takes no more, and not yet where the next one is
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nothingIsLeftOfWhatNobodyAnswers(boolean sealed) throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, BrokerSettings.in(directory).withMemory(MemoryKind.CHECKED))) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var producer = (MemoryProducer) await(connection.memoryProducer(partition, AccessMode.SHARED));
            await(connection.loop().submit(() -> {
                assertEquals(0, connection.handler().underWay());
                producer.send(encoded(payload(1, 0, 50)));
                assertEquals(1, connection.handler().underWay());
                if (sealed) {
                    producer.sealed(new Message.Sealed(partition, producer.generation(), SealReason.FULL));
                }
                producer.done(new IOException("as the test wants it"));
            }));
            producer.close();
            await(connection.loop().submit(() -> assertEquals(0, connection.handler().underWay())));
            assertTrue(connection.isOpen());
        }
    }
}
