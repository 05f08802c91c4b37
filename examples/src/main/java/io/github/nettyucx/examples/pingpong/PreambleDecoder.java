// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;

/** Waits for the preamble, then makes way for the handler that replies. What came behind the preamble is passed on. */
final class PreambleDecoder extends ByteToMessageDecoder {
    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        if (in.readableBytes() >= Preamble.LENGTH) {
            ctx.pipeline().replace(this, "ping-pong", new PingPongServerHandler(Preamble.decode(in)));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        PingPongServer.dropConnection(ctx, cause);
    }
}
