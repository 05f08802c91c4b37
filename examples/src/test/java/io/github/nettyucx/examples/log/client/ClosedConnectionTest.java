// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is asked of a connection that has been closed, or is being closed. */
@Timeout(120)
class ClosedConnectionTest {
    private static final String CLOSED = "the connection to the broker has been closed";
    private static final int ROUNDS = 20;

    @TempDir
    private Path directory;

    private static void assertRefused(Future<?> future) throws Exception {
        assertTrue(future.await(5, TimeUnit.SECONDS), "nothing came of it");
        assertEquals(CLOSED, assertInstanceOf(IOException.class, future.cause()).getMessage());
        var told = new CountDownLatch(1);
        future.addListener(_ -> told.countDown());
        assertTrue(told.await(5, TimeUnit.SECONDS), "who listens is not told");
    }

    private static void assertRefused(Producer producer) throws Exception {
        var record = encoded(payload(1, 0, 10));
        assertRefused(producer.send(record));
        assertEquals(0, record.refCnt());
        producer.close();
    }

    @Test
    void eachCallSaysSo() throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, BrokerSettings.in(directory))) {
            var connection = log.connect();
            var first = await(connection.openTopic("orders", 2));
            var messages = connection.messageProducer(first);
            var exclusive = await(connection.memoryProducer(first, AccessMode.EXCLUSIVE));
            var shared = await(connection.memoryProducer(first + 1, AccessMode.SHARED));
            var fetching = connection.messageConsumer(first, 0);
            var reading = await(connection.memoryConsumer(first, List.of(0L, 0L)));
            connection.close();

            assertFalse(connection.isOpen());
            assertRefused(connection.openTopic("orders", 2));
            assertRefused(connection.findLeader());
            assertRefused(connection.statistics());
            assertRefused(connection.follow(1, "cluster"));
            assertRefused(connection.adopt(first, 0, List.of()));
            assertRefused(messages);
            assertRefused(exclusive);
            assertRefused(shared);
            assertRefused(connection.messageProducer(first));
            assertRefused(connection.memoryProducer(first, AccessMode.EXCLUSIVE));
            assertRefused(connection.memoryProducer(first, AccessMode.SHARED));
            assertRefused(fetching.poll(1000));
            assertRefused(fetching.end());
            assertRefused(reading.poll());
            reading.close();
            assertRefused(connection.memoryConsumer(first, List.of(0L)));
            assertEquals(CLOSED, assertThrows(RejectedExecutionException.class,
                    () -> connection.execute(() -> { })).getMessage());
            assertEquals(CLOSED, assertThrows(RejectedExecutionException.class,
                    () -> connection.schedule(() -> { }, 1)).getMessage());
            connection.close();
        }
    }

    @Test
    void whatIsAskedMeanwhileEnds() throws Exception {
        try (var log = new LogFixture(TransportKind.NIO, BrokerSettings.in(directory));
                var asking = Executors.newSingleThreadExecutor()) {
            for (var round = 0; round < ROUNDS; round++) {
                var connection = log.connect();
                var begun = new CountDownLatch(1);
                var over = asking.submit(() -> {
                    while (true) {
                        var asked = connection.findLeader();
                        begun.countDown();
                        assertTrue(asked.await(10, TimeUnit.SECONDS), "nothing came of it");
                        if (asked.cause() != null && CLOSED.equals(asked.cause().getMessage())) {
                            return null;
                        }
                    }
                });
                assertTrue(begun.await(10, TimeUnit.SECONDS));
                connection.close();
                over.get(20, TimeUnit.SECONDS);
            }
        }
    }
}
