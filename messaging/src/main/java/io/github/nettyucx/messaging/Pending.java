// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A request that has not been answered. One of {@link #succeed} and {@link #fail} is called, once; neither throws. */
abstract class Pending {

    private static final VarHandle CORRELATION = field("correlation");
    private static final VarHandle TICKET = field("ticket");

    /** In {@link Requests}: its number, and where it is kept. */
    volatile long correlation;
    Peer peer;
    /** Of the request's message. */
    volatile long ticket;
    Codec<?> codec;
    long deadlineNanos;
    /** Whether {@link Requests} looks after the deadline; otherwise a thread that waits does. */
    boolean isTimed;

    private static VarHandle field(String name) {
        try {
            return MethodHandles.lookup().findVarHandle(Pending.class, name, long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** It has that number, and no ticket yet. Whoever finds the number where the request is kept finds this, too. */
    void begin(long correlation) {
        CORRELATION.setRelease(this, correlation);
        TICKET.setRelease(this, Long.MAX_VALUE);
    }

    abstract void succeed(Object response);

    abstract void fail(MessagingException cause);
}
