// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.concurrent.Future;

/**
 * Appends records to one partition. What is sent is answered with a future, and any thread may call. Or somebody is told of
 * it: these forms are for the connection's event loop only ({@link LogConnection#execute}), and make no object for a record.
 */
public interface Producer extends AutoCloseable {

    /** Who is told what has become of records, on the event loop. One can be told of any number. */
    @FunctionalInterface
    interface Acknowledgement {
        /**
         * @param id which was given along
         * @param offset of the first record, if the broker has committed them
         * @param cause {@code null} if it has
         */
        void done(long id, long offset, Throwable cause);
    }

    /**
     * Records of one producer get offsets in the order in which they are sent.
     *
     * @param records one or several, encoded; taken over
     * @return the offset of the first, when the broker has committed them. If it fails because the connection has ended, it
     *         is not known whether they were committed
     */
    Future<Long> send(ByteBuf records);

    /** As the other; whoever is told is given the id. For the event loop only. */
    default void send(ByteBuf records, Acknowledgement told, long id) {
        send(records).addListener((Future<Long> sent) -> {
            if (sent.isSuccess()) {
                told.done(id, sent.getNow(), null);
            } else {
                told.done(id, 0, sent.cause());
            }
        });
    }

    /**
     * Sends one record, as the other. For the event loop only.
     *
     * @param payload the caller's again when this returns
     */
    default void send(byte[] payload, Acknowledgement told, long id) {
        send(Records.encode(PooledByteBufAllocator.DEFAULT, payload), told, id);
    }

    /**
     * The offset behind the partition's last record when the access to memory was given, whether that record was committed or
     * not; -1 without such access.
     */
    default long openedAt() {
        return -1;
    }

    /** How many bytes can be sent at once, as far as it is known. */
    int maxLength();

    /** Waits until all that was sent is acknowledged or has failed, and gives up the access to memory, if there is any. */
    @Override
    void close() throws InterruptedException;
}
