// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.SealReason;
import io.github.nettyucx.memory.UcxRemoteMemory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A segment may be sealed while a producer opens the key to it. */
@Timeout(60)
class SealedKeyTest {
    @TempDir
    private Path directory;

    private static final class Recording extends MemoryProducer {
        final List<String> events = new ArrayList<>();

        Recording(LogConnection connection, int partition) {
            super(connection, partition, AccessMode.EXCLUSIVE);
        }

        @Override
        void begin(UcxRemoteMemory into, long position, long end) {
            events.add("begin at " + position);
        }

        @Override
        void ended() {
            events.add("ended");
        }

        @Override
        boolean write(Batch batch) {
            throw new AssertionError("nothing was sent");
        }
    }

    /** Another producer, whose memory is used for the test. */
    private static final class Owner extends MemoryWriter {
        Owner(LogFixture log, int partition) throws Exception {
            super(log, partition);
            begin(AccessMode.EXCLUSIVE);
        }

        @Override
        public void granted(Message.Granted next) {
        }

        @Override
        public void sealed(Message.Sealed told) {
        }

        @Override
        public void failed(Throwable cause) {
        }
    }

    private static Message.Granted granted(Message.Granted from, int generation, long position) {
        return new Message.Granted(Message.UNASKED, from.partition(), generation, from.mode(), position, from.capacity(),
                from.next(), from.key());
    }

    /** What is under way there would be forgotten. */
    @Test
    void aSegmentThatIsToldOfTwiceIsBegunOnce() throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, BrokerSettings.in(directory))) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var key = new Owner(log, partition).granted;
            var producer = new Recording(connection, partition);
            for (var i = 0; i < 2; i++) {
                await(connection.loop().submit(() -> producer.granted(granted(key, 5, 100))));
                // Asked for behind the other, and so answered behind it.
                await(connection.openMemory(key.key()));
            }
            await(connection.loop().submit(() -> assertEquals(List.of("begin at 100"), producer.events)));
        }
    }

    @ParameterizedTest
    @EnumSource(value = SealReason.class, names = {"FULL", "TIMED_OUT"})
    void nothingIsWrittenIntoASegmentThatWasSealedMeanwhile(SealReason reason) throws Exception {
        try (var log = new LogFixture(TransportKind.UCX, BrokerSettings.in(directory))) {
            var connection = log.connect();
            var partition = await(connection.openTopic("orders", 1));
            var key = new Owner(log, partition).granted;
            var producer = new Recording(connection, partition);
            await(connection.loop().submit(() -> {
                producer.granted(granted(key, 5, 100));
                producer.sealed(new Message.Sealed(partition, 5, reason));
                // Told once more, it ends nothing more.
                producer.sealed(new Message.Sealed(partition, 5, reason));
            }));
            // Asked for behind the other, and so answered behind it.
            await(connection.openMemory(key.key()));
            await(connection.loop().submit(() -> {
                assertEquals(List.of("ended"), producer.events);
                producer.granted(granted(key, 6, 200));
            }));
            await(connection.openMemory(key.key()));
            await(connection.loop().submit(() -> assertEquals(List.of("ended", "begin at 200"), producer.events)));
        }
    }
}
