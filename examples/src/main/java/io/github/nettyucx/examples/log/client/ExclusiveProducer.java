// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.OrderWord;
import io.github.nettyucx.memory.UcxCompletion;
import io.github.nettyucx.memory.UcxRemoteMemory;

/** Has the partition for itself, and so knows where the next record goes: one put with a notification, and no more. */
final class ExclusiveProducer extends MemoryProducer {
    private UcxRemoteMemory memory;
    private UcxCompletion completion;
    private long position;

    ExclusiveProducer(LogConnection connection, int partition) {
        super(connection, partition, AccessMode.EXCLUSIVE);
    }

    @Override
    void begin(UcxRemoteMemory into, long from, long end) {
        memory = into;
        position = from;
        completion = (request, value, cause) -> done(cause);
    }

    @Override
    void ended() {
        // Nothing is done when an operation is, but to tell of a failure.
    }

    @Override
    boolean write(Batch batch) {
        var length = batch.length();
        if (length > capacity() - position) {
            connection.handler().send(new Message.Full(partition, generation(), 0, position));
            return false;
        }
        var at = position;
        position += length;
        var records = batch.records().retainedDuplicate();
        batch.isWritten = true;
        memory.putAndNotify(at, records, OrderWord.notification(0, generation(), batch.request), completion,
                batch.request);
        return true;
    }
}
