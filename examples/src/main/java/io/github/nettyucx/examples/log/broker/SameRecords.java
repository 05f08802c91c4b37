// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.client.LogConnection;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.github.nettyucx.examples.log.storage.LogException;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.util.concurrent.ExecutionException;

/**
 * The agreement of a fixed leader: a follower whose last record is not the leader's is left alone. It tells a directory of
 * another log, and one that somebody else has written to since. It does not compare the records before: where another broker
 * has led, and clients have sent again what it had not acknowledged, they can be in another order. Brokers that choose their
 * leader know that by their epochs.
 *
 * @param loop the leader's
 */
record SameRecords(EventExecutor loop, Patience patience) implements Agreement {
    @Override
    public void begin(LogConnection connection) { }

    @Override
    public Agreed agree(LogConnection connection, Partition partition, int number)
            throws InterruptedException, IOException, ExecutionException {
        var producer = patience.await(connection.memoryProducer(number, AccessMode.EXCLUSIVE));
        var next = patience.await(connection.messageConsumer(number, 0).end());
        if (next < producer.openedAt()) {
            // It has more than can be read, and would get that again.
            throw new IOException("it waits for its own followers, which do not have its records " + next + " to "
                    + (producer.openedAt() - 1));
        }
        if (next > 0) {
            var last = patience.await(connection.messageConsumer(number, next - 1).poll(0)).getFirst();
            if (!patience.await(loop.submit(() -> partition.followers().hasRecord(last.offset(), last.payload())))) {
                throw new LogException("its record " + last.offset() + " is not that of the leader: somebody else has"
                        + " written to it. Give it an empty directory, and it gets all of them.");
            }
        }
        return new Agreed(producer, next);
    }
}
