// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;
import static io.github.nettyucx.examples.log.client.LogFixture.awaitRefusal;
import static io.github.nettyucx.examples.log.client.LogFixture.encoded;
import static io.github.nettyucx.examples.log.client.LogFixture.payload;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.RecordLog;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.ErrorCode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The broker's writes fail. */
@Timeout(120)
class StorageFailureTest {
    private static final String LISTENING = "listening ";

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"MESSAGE", "EXCLUSIVE", "SHARED"})
    void everyProducerIsToldAndWhatWasAcknowledgedIsThere(String way) throws Exception {
        byte[] first = payload(1, 0, 100);
        try (var broker = ChildProcess.start("the broker", RecordLog.class, List.of("--server", "127.0.0.1:0",
                "--directory", directory.toString(), RecordLog.CHILD_OPTION), line -> line.startsWith(LISTENING))) {
            var line = broker.nextReport(TimeUnit.SECONDS.toMillis(LogFixture.SECONDS));
            try (var connection = LogConnection.open(TransportKind.UCX, HostAndPort.parse(line.substring(LISTENING.length())))) {
                var partition = await(connection.openTopic("orders", 2));
                var producer = way.equals("MESSAGE") ? connection.messageProducer(partition)
                        : await(connection.memoryProducer(partition, AccessMode.valueOf(way)));
                assertEquals(0, await(producer.send(encoded(first))));
                // From now on no file of the broker's takes a byte.
                assertEquals(0, new ProcessBuilder("prlimit", "--pid", Long.toString(broker.pid()), "--fsize=0:")
                        .inheritIO().start().waitFor());
                var refused = awaitRefusal(ErrorCode.STORAGE, producer.send(encoded(payload(1, 1, 100))));
                assertTrue(refused.getMessage().startsWith("the broker cannot write to " + directory), refused.getMessage());
                assertTrue(refused.getMessage().contains("restart the broker"), refused.getMessage());
                var again = producer.send(encoded(payload(1, 2, 100)));
                assertTrue(again.await(LogFixture.SECONDS, TimeUnit.SECONDS) && !again.isSuccess(), way);
                // For others it is as it was.
                assertEquals(1, await(connection.messageConsumer(partition, 0).poll(0)).size());
                assertEquals(0, await(connection.messageConsumer(partition + 1, 0).poll(0)).size());
                assertTrue(connection.isOpen());
            }
            broker.close();
            assertTrue(broker.endsWithin(TimeUnit.SECONDS.toMillis(LogFixture.SECONDS)));
        }
        try (var log = new LogFixture(TransportKind.UCX, BrokerSettings.in(directory))) {
            var connection = log.connect();
            log.acknowledged(0, first);
            log.assertLog(log.readByMessage(connection, await(connection.openTopic("orders", 2))));
        }
    }
}
