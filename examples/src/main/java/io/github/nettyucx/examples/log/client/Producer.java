// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;

/** Appends records to one partition. Any thread may call. */
public interface Producer extends AutoCloseable {

    /**
     * Records of one producer get offsets in the order in which they are sent.
     *
     * @param records one or several, encoded; taken over
     * @return the offset of the first, when the broker has committed them. If it fails because the connection has ended, it
     *         is not known whether they were committed
     */
    Future<Long> send(ByteBuf records);

    /** How many bytes can be sent at once, as far as it is known. */
    int maxLength();

    /** Waits until all that was sent is acknowledged or has failed, and gives up the access to memory, if there is any. */
    @Override
    void close() throws InterruptedException;
}
