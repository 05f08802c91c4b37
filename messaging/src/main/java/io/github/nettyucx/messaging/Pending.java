// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

/** A request that has not been answered. One of {@link #succeed} and {@link #fail} is called, once; neither throws. */
abstract class Pending {

    /** In {@link Requests}: its number, and where it is kept. */
    volatile long correlation;
    Peer peer;
    /** Of the request's message. */
    volatile long ticket;
    Codec<?> codec;
    long deadlineNanos;
    /** Whether {@link Requests} looks after the deadline; otherwise a thread that waits does. */
    boolean isTimed;

    abstract void succeed(Object response);

    abstract void fail(MessagingException cause);
}
