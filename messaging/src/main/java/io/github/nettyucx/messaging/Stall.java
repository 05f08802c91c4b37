// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;

import java.util.concurrent.TimeUnit;

/**
 * Whether nothing has come for long of the messages in parts that a connection is in the middle of, because a codec is slow for
 * example, while its peer waits for their rest and sends nothing. Then they are given up, and their senders are told. The time
 * begins anew when the channel has sent what it had of them: before, it was the peer that took nothing, and a thread that waits
 * for room has to wake up. Only for the connection's loop.
 */
final class Stall {

    private final long nanos;
    private final EventLoop loop;
    private final Peer peer;
    private final Runnable again;
    /** Of the messages in the middle, when the peer was seen to wait for them. */
    private long progress = -1;
    private long progressNanos;
    private boolean wasBeingSent;
    private ScheduledFuture<?> look;

    /** @param again looks again, when there may have been time enough */
    Stall(long nanos, EventLoop loop, Peer peer, Runnable again) {
        this.nanos = nanos;
        this.loop = loop;
        this.peer = peer;
        this.again = again;
    }

    /** Looks whether it is so; if not, it will be looked again. */
    boolean isThere() {
        long now = System.nanoTime();
        Outgoing outgoing = peer.outgoing();
        long seen = outgoing.progress();
        boolean isBeingSent = outgoing.isBeingSent();
        if (seen != progress || isBeingSent || wasBeingSent) {
            progress = seen;
            progressNanos = now;
        }
        wasBeingSent = isBeingSent;
        long left = progressNanos + (isBeingSent ? nanos / 2 : nanos) - now;
        if (left > 0 && look == null) {
            // Before the whole time is over: what has been sent since is found out, and the peer does not wait for longer.
            look = loop.schedule(() -> {
                look = null;
                again.run();
            }, Math.min(left, nanos / 2), TimeUnit.NANOSECONDS);
        }
        return left <= 0;
    }

    /** It is looked no more. */
    void end() {
        if (look != null) {
            look.cancel(false);
            look = null;
        }
    }
}
