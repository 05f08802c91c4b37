// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes messages while the channel is writable, and flushes after every so many. After some flushes it lets the event
 * loop do its other work. Methods are for the event loop only, except where noted.
 */
final class Sender implements Runnable {
    private static final int FLUSHES_AT_A_TIME = 16;

    private enum State {
        /** Nothing is left to send. */
        DONE,
        /** On the event loop's list of tasks. */
        SCHEDULED,
        WRITING,
        /** Waits until the channel is writable. */
        BLOCKED
    }

    private final ChannelHandlerContext ctx;
    private State state = State.DONE;
    private ByteBuf message;
    private int flush;
    private long remaining;
    /** Written by the event loop, read by whoever watches for a stall. */
    private final AtomicLong sent = new AtomicLong();

    Sender(ChannelHandlerContext ctx) {
        this.ctx = ctx;
    }

    /**
     * @param message is written {@code phase.count()} times, and stays the caller's
     */
    void start(Phase phase, ByteBuf message) {
        this.message = message;
        flush = phase.flush();
        remaining = phase.count();
        sent.set(0);
        run();
    }

    /** Messages that were written since the start. From any thread; an older value may be seen. */
    long sent() {
        return sent.get();
    }

    @Override
    public void run() {
        if (!ctx.channel().isActive()) {
            state = State.DONE;
            return;
        }
        state = State.WRITING;
        for (var flushes = 0; flushes < FLUSHES_AT_A_TIME; flushes++) {
            if (!ctx.channel().isWritable()) {
                state = State.BLOCKED;
                return;
            }
            writeAndFlush();
            if (remaining == 0) {
                state = State.DONE;
                return;
            }
        }
        state = State.SCHEDULED;
        ctx.executor().execute(this);
    }

    private void writeAndFlush() {
        var unflushed = 0;
        while (unflushed < flush && remaining > 0 && ctx.channel().isWritable()) {
            ctx.write(message.retainedDuplicate(), ctx.voidPromise());
            remaining--;
            unflushed++;
        }
        sent.lazySet(sent.getPlain() + unflushed);
        ctx.flush();
    }

    /** To be called when the channel's writability has changed; may come from within a flush. */
    void writabilityChanged() {
        if (state == State.BLOCKED && ctx.channel().isWritable()) {
            run();
        }
    }
}
