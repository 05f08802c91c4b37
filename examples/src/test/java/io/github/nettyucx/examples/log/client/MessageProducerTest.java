// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.awaitRefusal;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.concurrent.Promise;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class MessageProducerTest {
    private static final int COUNT = 3;
    /** Instead of an id. */
    private static final long FAILED = -1;

    @TempDir
    private Path directory;

    /** As of producers that write to memory, that is not the others' matter. */
    @Test
    void whoIsToldOfARecordMayThrow() throws Exception {
        try (var log = new LogFixture(TransportKind.NIO, BrokerSettings.in(directory))) {
            var connection = log.connect();
            var producer = connection.messageProducer(await(connection.openTopic("orders", 1)));
            var told = new LinkedBlockingQueue<Long>();
            connection.execute(() -> {
                for (var i = 0; i < COUNT; i++) {
                    producer.send(encoded(payload(1, i, 10)), (id, offset, cause) -> {
                        told.add(cause == null ? id : FAILED);
                        throw new IllegalStateException("the application's");
                    }, i);
                }
            });
            for (var i = 0L; i < COUNT; i++) {
                assertEquals(i, told.poll(10, TimeUnit.SECONDS));
            }
            producer.close();
            assertTrue(connection.isOpen());
        }
    }

    @Test
    void eachThreadThatClosesItIsToldOfTheEnd() throws Exception {
        try (var log = new LogFixture(TransportKind.NIO, BrokerSettings.in(directory))) {
            var connection = log.connect();
            var producer = connection.messageProducer(await(connection.openTopic("orders", 1)));
            var closing = new CountDownLatch(1);
            connection.execute(() -> {
                try {
                    closing.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                producer.send(encoded(payload(1, 0, 10)), (id, offset, cause) -> { }, 0);
            });
            var threads = new ArrayList<Thread>();
            for (var i = 0; i < 2; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        producer.close();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }));
            }
            for (var thread : threads) {
                while (thread.getState() != Thread.State.WAITING) {
                    Thread.onSpinWait();
                }
            }
            closing.countDown();
            for (var thread : threads) {
                assertTrue(thread.join(Duration.ofSeconds(30)), "it is not told");
            }
        }
    }

    /** The broker takes no such message, and would end the connection. */
    @Test
    void whatIsTooLargeIsRefusedAndTheConnectionStays() throws Exception {
        try (var log = new LogFixture(TransportKind.NIO, BrokerSettings.in(directory))) {
            var connection = log.connect();
            var producer = connection.messageProducer(await(connection.openTopic("orders", 1)));
            var records = PooledByteBufAllocator.DEFAULT.directBuffer(3 << 20).writeZero(3 << 20);
            awaitRefusal(ErrorCode.TOO_LARGE, producer.send(records));
            assertEquals(0, records.refCnt());
            Promise<Long> told = connection.newPromise();
            connection.execute(() -> producer.send(new byte[3 << 20], LogConnection.telling(told), 0));
            awaitRefusal(ErrorCode.TOO_LARGE, told);
            assertEquals(0, await(producer.send(encoded(payload(1, 0, 10)))));
            producer.close();
            assertTrue(connection.isOpen());
        }
    }
}
