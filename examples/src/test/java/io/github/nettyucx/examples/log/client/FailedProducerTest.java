// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.broker.BrokerSettings.MemoryKind;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A producer of which an operation on memory fails, for want of memory for example, while its connection goes on. */
@Timeout(60)
class FailedProducerTest {

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
}
