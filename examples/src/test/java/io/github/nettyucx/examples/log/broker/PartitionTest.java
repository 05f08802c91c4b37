// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.nettyucx.examples.log.protocol.ErrorCode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.storage.Durability;
import io.github.nettyucx.examples.log.storage.EpochHistory;
import io.github.nettyucx.examples.log.storage.PartitionLog;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PartitionTest implements Peer {
    private static final int SEGMENT = 1000;
    private static final int PAYLOAD = 600;

    @TempDir
    private Path directory;
    private final List<Message> sent = new ArrayList<>();

    @Override
    public void send(Message message) {
        sent.add(message);
    }

    @Override
    public void disconnect() {
        throw new AssertionError("sent away");
    }

    private static ByteBuf record() {
        return Records.encode(UnpooledByteBufAllocator.DEFAULT, new byte[PAYLOAD]);
    }

    /** Its files have failed in between two segments. Of brokers that choose their leader another one can take records. */
    @Test
    void aPartitionThatTakesNoRecordsIsNotLed() throws Exception {
        var settings = BrokerSettings.in(directory).withSegmentBytes(SEGMENT);
        var partition = new Partition(0, PartitionLog.open(directory, SEGMENT, Durability.PAGE_CACHE),
                EpochHistory.open(directory, Durability.PAGE_CACHE), settings, new FixedLeader(0),
                ImmediateEventExecutor.INSTANCE, new Slots(settings), new IdentityHashMap<>());
        try {
            partition.lead(1);
            partition.produce(this, 1, record());
            assertEquals(new Message.Produced(1, 0), sent.getLast());
            // In the place of the next segment.
            Files.createDirectory(directory.resolve("00000000000000000001.log"));
            partition.produce(this, 2, record());
            assertEquals(ErrorCode.STORAGE, assertInstanceOf(Message.Failed.class, sent.getLast()).code());
            partition.follow();
            assertThrows(IOException.class, () -> partition.lead(2));
        } finally {
            partition.close();
        }
    }
}
