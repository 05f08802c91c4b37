// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.client.LogConnection;
import io.github.nettyucx.examples.log.client.Producer;
import java.io.IOException;
import java.util.concurrent.ExecutionException;

/** How a leader makes sure that a follower has no other records before it writes its own. Not for the event loop. */
interface Agreement {

    /**
     * @param producer who has the partition for itself
     * @param next the offset of the first record that the follower needs
     */
    record Agreed(Producer producer, long next) { }

    /** Once for each connection. */
    void begin(LogConnection connection) throws InterruptedException, IOException, ExecutionException;

    /**
     * From then on nobody else writes: neither others, nor an earlier connection of this leader.
     *
     * @param partition the leader's
     * @param number of the partition, at the follower
     */
    Agreed agree(LogConnection connection, Partition partition, int number)
            throws InterruptedException, IOException, ExecutionException;
}
