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
    /** By their requests. */
    private IntObjectMap<Entry> reserving = new IntObjectHashMap<>();

    SharedProducer(LogConnection connection, int partition) {
        super(connection, partition, AccessMode.SHARED);
    }

    @Override
    void begin(UcxRemoteMemory opened, long from, long end) {
        memory = opened;
        // Of this segment: what is still to come of the one before means nothing any more.
        IntObjectMap<Entry> ours = new IntObjectHashMap<>();
        reserving = ours;
        written = (request, value, cause) -> done(cause);
        reserved = (request, word, cause) -> {
            var entry = ours.remove((int) request);
            if (cause != null) {
                done(cause);
            } else if (entry != null && ours == reserving) {
                write(entry, word);
            }
        };
    }

    @Override
    boolean write(Entry entry) {
        reserving.put(entry.request, entry);
        memory.fetchAndAdd(OrderWord.at(capacity()), OrderWord.reserving(entry.length), reserved, entry.request);
        return true;
    }

    private void write(Entry entry, long word) {
        var turn = OrderWord.turn(word);
        var position = OrderWord.position(word);
        if (position > capacity() - entry.length) {
            connection.handler().send(new Message.Full(partition, generation(), turn, position));
            full();
            return;
        }
        memory.putAndNotify(position, entry.records.retainedDuplicate(), OrderWord.notification(turn, entry.request), written,
                entry.request);
    }
}
