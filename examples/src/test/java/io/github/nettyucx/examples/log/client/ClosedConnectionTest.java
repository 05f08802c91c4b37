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

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is asked of a connection that has been closed, or is being closed. */
@Timeout(120)
class ClosedConnectionTest {
    private static final String CLOSED = "the connection to the broker has been closed";
    private static final int ROUNDS = 20;
    private static final int SENT = 20_000;
    private static final int LENGTH = 9 << 10;

    @TempDir
    private Path directory;

    private static void assertRefused(Future<?> future) throws Exception {
        assertTrue(future.await(15, TimeUnit.SECONDS), "nothing came of it");
        assertEquals(CLOSED, assertInstanceOf(IOException.class, future.cause()).getMessage());
        var told = new CountDownLatch(1);
        future.addListener(_ -> told.countDown());
        assertTrue(told.await(15, TimeUnit.SECONDS), "who listens is not told");
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

    /** By it one decides whether to ask again with the next connection. */
    @Test
    void whoIsToldThatItHasFailedFindsThatItHas() throws Exception {
        try (var log = new LogFixture(TransportKind.NIO, BrokerSettings.in(directory))) {
            var connection = log.connect();
            var found = new CompletableFuture<Boolean>();
            await(connection.loop().submit(() -> {
                connection.statistics().addListener(asked -> found.complete(asked.isSuccess() || connection.isOpen()));
                connection.channel().pipeline().fireExceptionCaught(new IOException("broken"));
            }));
            assertFalse(found.get(LogFixture.SECONDS, TimeUnit.SECONDS));
        }
    }

    /** Each record is a batch of its own. Some are written, and wait for an answer; the others wait for them. */
    @ParameterizedTest
    @EnumSource(AccessMode.class)
    void allThatAProducerHasIsToldOfHoweverMuchItIs(AccessMode mode) throws Exception {
        // A leak detector takes long for so many; the count is looked at in the end.
        var record = Records.encode(new UnpooledByteBufAllocator(true, true), payload(1, 0, LENGTH));
        var left = new CountDownLatch(SENT);
        var told = new int[SENT];
        // Without a follower nothing is answered, and nobody listens there.
        var settings = BrokerSettings.in(directory).withFollowers(List.of(new HostAndPort("127.0.0.1", 1)))
                .withMinFollowers(1);
        try (var log = new LogFixture(TransportKind.UCX, settings)) {
            var connection = log.connect();
            var producer = await(connection.memoryProducer(await(connection.openTopic("orders", 1)), mode));
            await(connection.loop().submit(() -> {
                for (var i = 0; i < SENT; i++) {
                    producer.send(record.retainedDuplicate(), (id, offset, cause) -> {
                        assertInstanceOf(IOException.class, cause);
                        told[(int) id]++;
                        left.countDown();
                    }, i);
                }
            }));
            // By these some have been reserved, and written: otherwise that failed first.
            await(connection.statistics());
            await(connection.statistics());
            assertEquals(SENT, left.getCount());
            connection.channel().close();
            assertTrue(left.await(LogFixture.SECONDS, TimeUnit.SECONDS), () -> left.getCount() + " are not told of");
            producer.close();
            connection.close();
        }
        assertTrue(Arrays.stream(told).allMatch(times -> times == 1), "some were told of twice");
        assertEquals(1, record.refCnt());
        record.release();
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
