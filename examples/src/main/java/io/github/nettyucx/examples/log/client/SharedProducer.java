// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.OrderWord;
import io.github.nettyucx.memory.UcxCompletion;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;

/** Reserves a place by a fetch-and-add, and writes there: any number of producers can do that at a time. */
final class SharedProducer extends MemoryProducer {
    private UcxRemoteMemory memory;
    private UcxCompletion reserved;
    private UcxCompletion written;
    /** By their requests; {@code null} if there is no segment. */
    private IntObjectMap<Batch> reserving;

    SharedProducer(LogConnection connection, int partition) {
        super(connection, partition, AccessMode.SHARED);
    }

    @Override
    void begin(UcxRemoteMemory into, long from, long end) {
        memory = into;
        IntObjectMap<Batch> ours = new IntObjectHashMap<>();
        reserving = ours;
        written = (request, value, cause) -> done(cause);
        reserved = (request, word, cause) -> {
            var batch = ours.remove((int) request);
            if (cause != null) {
                done(cause);
            } else if (batch != null && ours == reserving) {
                try {
                    write(batch, word);
                } catch (RuntimeException | Error e) {
                    // Whoever calls a completion keeps what it throws to himself. Whether it has been written is not known.
                    failed(e);
                }
            }
        };
    }

    @Override
    void ended() {
        reserving = null;
    }

    @Override
    boolean write(Batch batch) {
        reserving.put(batch.request, batch);
        memory.fetchAndAdd(OrderWord.at(capacity()), OrderWord.reserving(batch.length()), reserved, batch.request);
        return true;
    }

    private void write(Batch batch, long word) {
        var turn = OrderWord.turn(word);
        var position = OrderWord.position(word);
        if (position > capacity() - batch.length()) {
            connection.handler().send(new Message.Full(partition, generation(), turn, position));
            full();
            return;
        }
        var records = batch.records().retainedDuplicate();
        batch.isWritten = true;
        memory.putAndNotify(position, records, OrderWord.notification(turn, generation(), batch.request), written,
                batch.request);
    }
}
