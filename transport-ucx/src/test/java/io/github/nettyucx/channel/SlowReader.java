// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

import java.util.concurrent.TimeUnit;

/** Of a channel without auto-read: reads once, and again some time after each message, which it throws away. */
class SlowReader extends ChannelInboundHandlerAdapter {

    private final int pauseMillis;

    SlowReader(int pauseMillis) {
        this.pauseMillis = pauseMillis;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        context.read();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ((ByteBuf) message).release();
        context.executor().schedule(context::read, pauseMillis, TimeUnit.MILLISECONDS);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // Its peer is not as patient as it is slow.
    }
}
