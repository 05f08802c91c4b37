// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.storage.LogException;
import io.github.nettyucx.examples.log.storage.Records;
import io.github.nettyucx.memory.UcxMemory;
import io.netty.util.concurrent.Future;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A consumer of which something fails, or that finds what cannot be: it says so. */
@Timeout(60)
class MemoryConsumerTest {
    private static final int SEGMENT = 64 << 10;
    private static final int RECORDS = 20;
    private static final int PAYLOAD = 92;
    private static final int LENGTH = Records.HEADER + PAYLOAD;
    private static final int AT_ONCE = 3 * LENGTH + 1;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    @TempDir
    private Path directory;

    private static int produce(LogConnection connection) throws Exception {
        var partition = await(connection.openTopic("orders", 1));
        var producer = connection.messageProducer(partition);
        for (var i = 0; i < RECORDS; i++) {
            assertEquals(i, await(producer.send(encoded(new byte[PAYLOAD]))));
        }
        return partition;
    }

    private static Throwable failureOf(Future<?> poll) throws Exception {
        assertTrue(poll.await(LogFixture.SECONDS, TimeUnit.SECONDS), "the poll does not end");
        return poll.cause();
    }

    /** @return of the records that were found */
    private static List<Long> offsets(Future<List<LogRecord>> poll) throws Exception {
        return await(poll).stream().map(LogRecord::offset).toList();
    }

    @Test
    void aPollForWhichThereIsNoMemoryFailsAndTheNextOneReads() throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, BrokerSettings.in(directory))) {
            var connection = log.connect();
            var partition = produce(connection);
            var scarce = new ScarceAllocator(AT_ONCE);
            connection.channel().config().setAllocator(scarce);
            var consumer = await(connection.memoryConsumer(partition, List.of(0L), AT_ONCE));
            // The first asks where the records are, and the other one knows.
            for (var offset = 0L; offset < 6; offset += 3) {
                scarce.fails = true;
                assertEquals(scarce.failure, failureOf(consumer.poll()));
                assertEquals(List.of(offset, offset + 1, offset + 2), offsets(consumer.poll()));
            }
            consumer.close();
        }
    }

    /** What was found in the others is not lost with it. */
    @Test
    void aPollThatFailsInOnePartitionGoesOnInNone() throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, BrokerSettings.in(directory))) {
            var connection = log.connect();
            var first = await(connection.openTopic("orders", 2));
            var few = connection.messageProducer(first);
            var many = connection.messageProducer(first + 1);
            for (var i = 0; i < RECORDS; i++) {
                assertEquals(i, await(many.send(encoded(new byte[PAYLOAD]))));
            }
            var scarce = new ScarceAllocator(AT_ONCE);
            connection.channel().config().setAllocator(scarce);
            var consumer = await(connection.memoryConsumer(first, List.of(0L, 0L), AT_ONCE));
            // The first asks where the records are, and the other one knows.
            for (var offset = 0L; offset < 2; offset++) {
                assertEquals(offset, await(few.send(encoded(new byte[PAYLOAD]))));
                scarce.fails = true;
                assertEquals(scarce.failure, failureOf(consumer.poll()));
                assertEquals(offset, consumer.offset(first));
                assertEquals(3 * offset, consumer.offset(first + 1));
                var found = new ArrayList<>(await(consumer.poll()));
                found.sort(Comparator.comparingInt(LogRecord::partition).thenComparingLong(LogRecord::offset));
                assertEquals(List.of(first, first + 1, first + 1, first + 1), found.stream().map(LogRecord::partition).toList());
                assertEquals(List.of(offset, 3 * offset, 3 * offset + 1, 3 * offset + 2),
                        found.stream().map(LogRecord::offset).toList());
            }
            consumer.close();
        }
    }

    /** By somebody who has the memory attached, and does not keep to his key. */
    @ParameterizedTest
    @ValueSource(ints = {0, Records.HEADER - 1, -1, (RECORDS - 1) * LENGTH + 1, Records.MAX_LENGTH + 1})
    void aLengthThatHasBeenChangedIsTold(int length) throws Exception {
        var allocated = new ArrayList<UcxMemory>();
        var settings = BrokerSettings.in(directory).withSegmentBytes(SEGMENT).withMemory((bytes, rights) -> {
            var memory = UcxMemory.allocate(bytes, rights);
            if (bytes == SEGMENT) {
                allocated.add(memory);
            }
            return memory;
        });
        try (var log = new LogFixture(TransportKind.UCX, settings)) {
            var connection = log.connect();
            var partition = produce(connection);
            var consumer = await(connection.memoryConsumer(partition, List.of(0L), AT_ONCE));
            assertEquals(List.of(0L, 1L, 2L), offsets(consumer.poll()));
            assertEquals(1, allocated.size());
            // Of record 1, which is the first that is read then.
            consumer.seek(partition, 1);
            var readable = allocated.getFirst().segment();
            readable.set(INT, LENGTH + Integer.BYTES, length);
            for (var i = 0; i < 2; i++) {
                var failure = assertInstanceOf(LogException.class, failureOf(consumer.poll()));
                assertTrue(failure.getMessage().startsWith("record 1 of partition " + partition + " is damaged: it says that"
                        + " it has " + length + " bytes"), failure.getMessage());
            }
            readable.set(INT, LENGTH + Integer.BYTES, LENGTH);
            assertEquals(List.of(1L, 2L, 3L), offsets(consumer.poll()));
            consumer.close();
        }
    }
}
