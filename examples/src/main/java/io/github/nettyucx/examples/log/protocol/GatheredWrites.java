// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.protocol;

import io.netty.channel.ChannelHandlerContext;

/** Messages of one turn of the event loop, which go out together at its end. For the event loop only. */
public final class GatheredWrites {
    private final ChannelHandlerContext context;
    private final Runnable flush = this::flush;
    private boolean flushing;

    /** @param context of the handler that writes */
    public GatheredWrites(ChannelHandlerContext context) {
        this.context = context;
    }

    /** @param message taken over */
    public void add(Message message) {
        context.write(message, context.voidPromise());
        if (!flushing) {
            flushing = true;
            context.executor().execute(flush);
        }
    }

    private void flush() {
        flushing = false;
        context.flush();
    }
}
