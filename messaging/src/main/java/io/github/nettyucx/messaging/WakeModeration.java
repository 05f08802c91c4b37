// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.github.nettyucx.channel.UcxEventLoop;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;

import java.util.concurrent.TimeUnit;

/**
 * Decides when messages of threads do not wake the loop of a connection at once, as a network adapter moderates its
 * interrupts.
 * <p>
 * A thread may have the loop's processor. Then the loop takes it from the thread for the first message, finds this one alone
 * or one more, sleeps, and is woken by the next one: every message or two costs a sleep. When that has been so often enough,
 * but for a ring full of them now and then, the loop naps: messages wake it when there is much to take, and else it looks by
 * itself a moment later. It goes on like that for as long as it finds more than a few each time, or much. Each time that it
 * does not, it takes longer until it naps again.
 * <p>
 * Only loops of this project's own kind nap: others do not say whether they have slept, or have no timers that are fine enough.
 * Only for the loop's own thread.
 */
final class WakeModeration {

    /** So many bytes of messages wake a loop that naps, or as many as a quarter of the ring has. */
    static final int NAP_BYTES = 256 * 1024;
    private static final long NAP_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    /** A sleep brings too little if it is no more messages than that, on average. */
    static final int FEW = 2;
    /** Over so many sleeps, from the first time to the last; it doubles. */
    static final int FIRST_PATIENCE = 64;
    static final int LAST_PATIENCE = 4096;
    /** After so many naps it is judged whether they are worth it: if each has brought so many messages, or so many bytes. */
    static final int ROUND = 8;
    static final int WORTH = 4;
    static final int WORTH_BYTES = 128 * 1024;

    /** {@code null} if it never naps. */
    private final UcxEventLoop loop;
    private final Runnable drain;
    /** Looks, for as long as the loop naps again and again; {@code null} if it does not. One for many naps costs them nothing. */
    private ScheduledFuture<?> looks;
    private boolean napping;
    private int patience = FIRST_PATIENCE;
    /** Since the count began: sleeps, or naps, and what they have brought. */
    private int rests;
    private long messages;
    private long bytes;

    /** @param drain is run on the loop when it looks by itself */
    WakeModeration(EventLoop loop, Runnable drain) {
        this.loop = loop instanceof UcxEventLoop ucx ? ucx : null;
        this.drain = drain;
    }

    /**
     * The ring is empty, and the loop has nothing more to send.
     *
     * @param sent      how many messages it has sent since it was so the last time
     * @param sentBytes of these
     * @return whether it should nap, and not sleep: the ring is looked at again by itself
     */
    boolean naps(long sent, long sentBytes) {
        if (loop == null || !naps(sent, sentBytes, loop.hasSlept())) {
            end();
            return false;
        }
        if (looks == null) {
            looks = loop.scheduleWithFixedDelay(drain, NAP_NANOS, NAP_NANOS, TimeUnit.NANOSECONDS);
        }
        // Nor does it look for work before: the thread may have no processor but the loop's.
        loop.rest();
        return true;
    }

    /** Whether the ring is looked at by itself. */
    boolean looks() {
        return looks != null;
    }

    /** It is looked at by itself no more: the loop does not nap, or nothing is sent over the connection any more. */
    void end() {
        if (looks != null) {
            looks.cancel(false);
            looks = null;
        }
    }

    /** @param slept whether the loop had slept just before */
    boolean naps(long sent, long sentBytes, boolean slept) {
        messages += sent;
        bytes += sentBytes;
        if (napping) {
            if (++rests == ROUND) {
                napping = messages >= ROUND * WORTH || bytes >= ROUND * WORTH_BYTES;
                patience = napping ? FIRST_PATIENCE : Math.min(LAST_PATIENCE, 2 * patience);
                countAnew();
            }
        } else if (messages > FEW * patience) {
            countAnew();
        } else if (slept && sent > 0 && ++rests == patience) {
            napping = true;
            countAnew();
        }
        return napping;
    }

    private void countAnew() {
        rests = 0;
        messages = 0;
        bytes = 0;
    }
}
