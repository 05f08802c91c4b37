// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.OrderWord;
import io.netty.util.ResourceLeakDetector;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** So many short records go into one segment that the turns of its word of order begin again. */
@Timeout(300)
class TurnsTest {
    private static final int RECORDS = 70_000;
    private static final int IN_ONE_GO = 2_000;

    @TempDir
    private Path directory;

    private static final class Member extends MemoryWriter {
        private volatile boolean isSealed;

        Member(LogFixture log, int partition) throws Exception {
            super(log, partition);
            begin(AccessMode.SHARED);
        }

        @Override
        public void granted(Message.Granted next) {
        }

        @Override
        public void sealed(Message.Sealed told) {
            isSealed = true;
        }

        @Override
        public void failed(Throwable cause) {
            isSealed = true;
        }
    }

    @Test
    void nothingIsLostAndNobodyIsAccused() throws Exception {
        var before = ResourceLeakDetector.getLevel();
        try (var log = new LogFixture(TransportKind.UCX, BrokerSettings.in(directory).withSegmentBytes(4 << 20)
                // Nobody is late, however busy the machine is.
                .withReservation(Duration.ofSeconds(30)))) {
            // To follow each of so many buffers takes minutes on a busy machine. Other tests do.
            ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.SIMPLE);
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var member = new Member(log, partition);
            var shared = await(connection.memoryProducer(partition, AccessMode.SHARED));
            var byMessage = log.connect().messageProducer(partition);
            for (var from = 0; from < RECORDS; from += IN_ONE_GO) {
                // Each of them has a turn of its own; those that are written to memory together have one together.
                log.produce(byMessage, 1, from, from + IN_ONE_GO, 4);
                log.produce(shared, 2, from, from + 20, 4);
            }
            var word = member.reserve(0);
            assertTrue(OrderWord.turn(word) < RECORDS / 2, () -> OrderWord.turn(word) + " turns, which did not begin again");
            assertFalse(member.isSealed);
            log.assertLog(log.readByMessage(connection, partition));
        } finally {
            ResourceLeakDetector.setLevel(before);
        }
    }
}
