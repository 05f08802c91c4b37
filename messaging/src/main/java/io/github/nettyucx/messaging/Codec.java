// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/**
 * Writes and reads messages of one class. Used by many threads at the same time: it keeps nothing between two calls.
 *
 * @param <T> the class
 */
public interface Codec<T> {

    /**
     * How many bytes {@link #write} is going to write: exactly. {@link Exporter} says what the values take.
     *
     * @return bytes, from 0 to what the nodes allow for a message
     */
    int size(T message);

    /**
     * Writes the message, in the thread that sends it. What it throws is thrown to the sender, and the message is not sent.
     */
    void write(T message, Exporter out);

    /**
     * Reads what {@link #write} has written, on an event loop. It has to read all of it.
     *
     * @return a new object, or one of a pool that {@link #release} gives it back to
     */
    T read(Importer in);

    /**
     * Called once when the handler of a message or a request has returned, in its thread, or when no handler gets it. A
     * response is released by who has asked for it; by the node only if nobody takes it. By default the garbage collector does
     * what is to be done.
     */
    default void release(T message) {
    }
}
