// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.nettyucx.examples.log.storage.LogException;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TopicsTest {
    private static final EventExecutor LOOP = ImmediateEventExecutor.INSTANCE;
    private static final int SEGMENT = 4096;

    @TempDir
    private Path directory;

    /** In a cluster a topic that cannot be made would keep every broker from leading. */
    @Test
    void noFileOfTheBrokersOwnStandsInATopicsWay() throws Exception {
        var topics = Topics.open(BrokerSettings.in(directory).withSegmentBytes(SEGMENT), new FixedLeader(0), LOOP);
        try {
            try (var files = Files.list(directory)) {
                for (var file : files.map(each -> each.getFileName().toString()).toList()) {
                    assertThrows(IllegalArgumentException.class, () -> topics.openTopic(file, 1, LOOP), file);
                }
            }
            assertEquals(new Topics.Topic(0, 1), topics.openTopic("lock", 1, LOOP));
        } finally {
            topics.close();
        }
    }

    /** A follower that does not have its partitions, of which it is not told, would never be in sync. */
    @Test
    void ofATopicThatCannotBeMadeNoPartitionIsLeftAndItCanBeMadeLater() throws Exception {
        var epochs = Files.createDirectories(directory.resolve("orders.new").resolve("1")).resolve("epochs");
        Files.writeString(epochs, "no epoch\n");
        var topics = Topics.open(BrokerSettings.in(directory).withSegmentBytes(SEGMENT), new FixedLeader(0), LOOP);
        try {
            assertThrows(LogException.class, () -> topics.openTopic("orders", 2, LOOP));
            assertEquals(List.of(), topics.partitions());
            Files.delete(directory.resolve("orders").resolve("1").resolve("epochs"));
            assertThrows(IllegalArgumentException.class, () -> topics.openTopic("orders", 3, LOOP));
            assertEquals(new Topics.Topic(0, 2), topics.openTopic("orders", 2, LOOP));
            assertEquals(2, topics.partitions().size());
        } finally {
            topics.close();
        }
    }
}
