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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One connection writes to several partitions more than may be under way: what there is no room for waits, and is written. */
@Timeout(120)
class ManyPartitionsTest {
    private static final int PARTITIONS = 2;
    private static final int SEGMENT = 64 << 20;
    private static final int LENGTH = 1_000_000;
    private static final int RECORDS = 45;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(AccessMode.class)
    void allIsWrittenInItsOrder(AccessMode mode) throws Exception {
        assertTrue((long) PARTITIONS * RECORDS * LENGTH > ConnectionHandler.MAX_BYTES_UNDER_WAY, "there is room for all");
        var settings = BrokerSettings.in(directory).withSegmentBytes(SEGMENT).withMemory(MemoryKind.CHECKED);
        try (var log = new LogFixture(TransportKind.UCX, settings)) {
            var connection = log.connect();
            int first = await(connection.openTopic("orders", PARTITIONS));
            var producers = new ArrayList<Producer>();
            for (var i = 0; i < PARTITIONS; i++) {
                producers.add(await(connection.memoryProducer(first + i, mode)));
            }
            var record = encoded(payload(1, 0, LENGTH));
            List<Future<Long>> sent = await(connection.loop().submit(() -> {
                var all = new ArrayList<Future<Long>>();
                for (var i = 0; i < RECORDS; i++) {
                    for (var producer : producers) {
                        all.add(producer.send(record.retainedDuplicate()));
                    }
                }
                return all;
            }));
            record.release();
            var offsets = new ArrayList<Long>();
            for (var one : sent) {
                offsets.add(await(one));
            }
            assertEquals(IntStream.range(0, sent.size()).mapToObj(i -> (long) (i / PARTITIONS)).toList(), offsets);
            for (var producer : producers) {
                producer.close();
            }
            assertTrue(connection.isOpen());
        }
    }
}
