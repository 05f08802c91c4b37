// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Returns each message when all of it has arrived: the parts are written as they come in, without a copy, and flushed
 * behind the last one. An echo that flushed every part would let the two directions overlap, and that is no round trip.
 */
final class PingPongServerHandler extends ChannelInboundHandlerAdapter {
    private final int messageSize;
    private int missing;

    PingPongServerHandler(int messageSize) {
        this.messageSize = messageSize;
        missing = messageSize;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        var in = (ByteBuf) msg;
        while (in.readableBytes() > missing) {
            ctx.write(in.readRetainedSlice(missing), ctx.voidPromise());
            messageCompleted(ctx);
        }
        missing -= in.readableBytes();
        ctx.write(in, ctx.voidPromise());
        if (missing == 0) {
            messageCompleted(ctx);
        }
    }

    private void messageCompleted(ChannelHandlerContext ctx) {
        ctx.flush();
        missing = messageSize;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        PingPongServer.dropConnection(ctx, cause);
    }
}
