// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.broker.LogBroker;
import io.github.nettyucx.examples.log.client.LogConnection;
import io.github.nettyucx.examples.log.client.LogRecord;
import io.github.nettyucx.examples.log.client.MemoryConsumer;
import io.github.nettyucx.examples.log.client.Producer;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program of docs/record-log.md does what the page says. */
class RecordLogPageTest {
    private static final Path ROOT = Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();
    private static final String SOURCE = "src/test/java/io/github/nettyucx/docs/RecordLogPageTest.java";

    @TempDir
    private Path directory;

    // begin
    static List<String> orders(Path directory) throws Exception {
        HostAndPort anyPort = new HostAndPort("127.0.0.1", 0);
        try (LogBroker broker = LogBroker.start(TransportKind.UCX, anyPort, BrokerSettings.in(directory));
                LogConnection connection = LogConnection.open(TransportKind.UCX, broker.address())) {
            int partition = connection.openTopic("orders", 4).sync().getNow();

            Producer byMessage = connection.messageProducer(partition);
            byMessage.send(record("tea")).sync();
            try (Producer shared = connection.memoryProducer(partition, AccessMode.SHARED).sync().getNow()) {
                shared.send(record("milk"));
                byMessage.send(record("sugar")).sync();
            }
            try (Producer alone = connection.memoryProducer(partition, AccessMode.EXCLUSIVE).sync().getNow()) {
                long offset = alone.send(record("biscuits")).sync().getNow();
                System.out.println("committed as record " + offset);
            }

            List<String> orders = new ArrayList<>();
            MemoryConsumer consumer = connection.memoryConsumer(partition, List.of(0L)).sync().getNow();
            while (orders.size() < 4) {
                for (LogRecord record : consumer.poll().sync().getNow()) {
                    orders.add(new String(record.payload(), UTF_8));
                }
            }
            consumer.close();
            return orders;
        }
    }

    static ByteBuf record(String text) {
        return Records.encode(PooledByteBufAllocator.DEFAULT, text.getBytes(UTF_8));
    }
    // end

    @Test
    @Timeout(60)
    void theProgramOfThePageRuns() throws Exception {
        var orders = orders(directory);
        assertEquals("tea", orders.getFirst());
        assertEquals("biscuits", orders.getLast());
        assertEquals(List.of("biscuits", "milk", "sugar", "tea"), orders.stream().sorted().toList());
    }

    @Test
    void thePageHasTheProgramThatIsRun() throws Exception {
        var source = Files.readAllLines(ROOT.resolve("examples").resolve(SOURCE));
        var program = source.subList(source.indexOf("    // begin") + 1, source.indexOf("    // end"));
        var expected = String.join("\n", program.stream().map(line -> line.substring(Math.min(4, line.length()))).toList());
        assertTrue(Files.readString(ROOT.resolve("docs/record-log.md")).contains("```java\n" + expected + "\n```"),
                () -> "the page does not have:\n" + expected);
    }
}
