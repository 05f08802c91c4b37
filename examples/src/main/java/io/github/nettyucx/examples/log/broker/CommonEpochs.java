// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.client.LogConnection;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.util.concurrent.ExecutionException;

/**
 * The agreement of a leader that was chosen: a follower cuts off what it has and the leader has not, by the epochs of the
 * records. Nobody was told that it is there.
 * <p>
 * Records themselves are not compared: an epoch has one leader, and nobody else is to write at a follower. One that has
 * others within the same epoch, and not beyond the leader's end, is taken as it is. A {@link Replica} that is told another
 * offset than its own says so, and the follower comes here again.
 *
 * @param loop the leader's
 */
record CommonEpochs(String cluster, long epoch, EventExecutor loop, Patience patience) implements Agreement {
    @Override
    public void begin(LogConnection connection) throws InterruptedException, IOException, ExecutionException {
        patience.await(connection.follow(epoch, cluster));
    }

    @Override
    public Agreed agree(LogConnection connection, Partition partition, int number)
            throws InterruptedException, IOException, ExecutionException {
        var history = patience.await(loop.submit(partition::history));
        var next = patience.await(connection.adopt(number, history.end(), history.epochs()));
        return new Agreed(patience.await(connection.memoryProducer(number, AccessMode.EXCLUSIVE)), next);
    }
}
