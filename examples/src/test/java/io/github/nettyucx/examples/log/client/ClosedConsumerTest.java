// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.broker.BrokerSettings.MemoryKind;
import io.netty.util.concurrent.Future;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A consumer that reads memory, and is closed while it does. */
@Timeout(120)
class ClosedConsumerTest {
    private static final int RECORDS = 200;
    private static final int ROUNDS = 200;

    @TempDir
    private Path directory;

    /** @return whether it says that it has been closed; otherwise it has read what there was */
    private static boolean isRefused(Future<?> polled) throws Exception {
        assertTrue(polled.await(10, TimeUnit.SECONDS), "nothing came of it");
        if (polled.isSuccess()) {
            return false;
        }
        assertEquals("the consumer has been closed",
                assertInstanceOf(IllegalStateException.class, polled.cause()).getMessage());
        return true;
    }

    @ParameterizedTest
    @EnumSource(MemoryKind.class)
    void aPollEndsAndLaterOnesAreRefused(MemoryKind kind) throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, BrokerSettings.in(directory).withMemory(kind))) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            log.produce(connection.messageProducer(partition), 1, 0, RECORDS, 100);
            for (var round = 0; round < ROUNDS; round++) {
                // A few bytes at a time, so that each poll reads.
                var consumer = await(connection.memoryConsumer(partition, List.of(0L), 200));
                // The first one asks where the records are.
                for (var polls = round % 4; polls > 0; polls--) {
                    await(consumer.poll());
                }
                var polled = consumer.poll();
                // The poll has gone as far as it does in that time.
                for (var spins = round % 50 * 200; spins > 0; spins--) {
                    Thread.onSpinWait();
                }
                consumer.close();
                consumer.close();
                var last = consumer.poll();
                isRefused(polled);
                assertTrue(isRefused(last));
            }
            log.assertLog(log.readByMessage(connection, partition));
        }
    }
}
