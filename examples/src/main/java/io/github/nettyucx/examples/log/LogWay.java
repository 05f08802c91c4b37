// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.log.client.LogConnection;
import io.github.nettyucx.examples.log.client.Producer;
import io.github.nettyucx.examples.log.protocol.AccessMode;
import java.util.Locale;

/** How records get to the broker, and back. */
enum LogWay {
    /** By message, both ways. */
    MESSAGE,
    /** One producer writes into the segment; consumers read memory. */
    EXCLUSIVE,
    /** Producers share the segment; consumers read memory. */
    SHARED;

    Producer producer(LogConnection connection, int partition) throws InterruptedException {
        return switch (this) {
            case MESSAGE -> connection.messageProducer(partition);
            case EXCLUSIVE -> LoadClient.await(connection.memoryProducer(partition, AccessMode.EXCLUSIVE));
            case SHARED -> LoadClient.await(connection.memoryProducer(partition, AccessMode.SHARED));
        };
    }

    /** The name by which the command line knows it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
