// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static io.github.nettyucx.examples.log.client.LogFixture.await;

import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.protocol.OrderWord;
import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;

/** Has a segment's memory, and does each step of a producer by hand. */
abstract class MemoryWriter implements ConnectionHandler.MemoryUser {
    final LogConnection connection;
    final int partition;
    Message.Granted granted;
    UcxRemoteMemory memory;

    MemoryWriter(LogFixture log, int partition) throws Exception {
        this.partition = partition;
        connection = log.connect();
    }

    /** When all of it has been made: from then on it is told of what happens. */
    final void begin(AccessMode mode) throws Exception {
        await(connection.loop().submit(() -> connection.handler().add(partition, this)));
        use((Message.Granted) await(connection.ask(request -> new Message.Access(request, partition, mode))));
    }

    void use(Message.Granted next) throws Exception {
        granted = next;
        memory = await(connection.openMemory(next.key()));
    }

    /** @return the word of order as it was before */
    long reserve(int length) throws Exception {
        return await(memory.fetchAndAdd(OrderWord.at(granted.capacity()), OrderWord.reserving(length)));
    }

    /** @return what comes of it */
    Future<Message.Answer> put(long at, ByteBuf bytes, int turn, int generation) {
        return connection.ask(request -> {
            memory.putAndNotify(at, bytes, OrderWord.notification(turn, generation, request), null, 0);
            // Something has to be sent, and this does no harm: the answer that counts comes by the notification.
            return new Message.Full(partition, -1, 0, 0);
        });
    }
}
