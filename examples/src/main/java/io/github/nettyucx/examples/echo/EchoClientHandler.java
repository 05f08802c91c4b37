// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.echo;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Copies what returns to an output stream, and asks for more only when that is written: a slow reader of the output
 * slows the whole circle down, and nothing piles up.
 *
 * <p>Writing to the stream blocks, so this handler has to be added with an executor that is not an event loop, to a
 * channel whose auto-read is off.
 */
final class EchoClientHandler extends SimpleChannelInboundHandler<ByteBuf> {
    private final OutputStream out;
    private final Promise<Void> done = ImmediateEventExecutor.INSTANCE.newPromise();
    /** Written by the handler's executor only. */
    private volatile long bytes;

    EchoClientHandler(OutputStream out) {
        this.out = out;
    }

    /** Is done when the connection has ended and all that came back is written, or when something went wrong. */
    Future<Void> done() {
        return done;
    }

    /** How many bytes came back so far. */
    long bytes() {
        return bytes;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        ctx.read();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf in) throws IOException {
        var length = in.readableBytes();
        in.readBytes(out, length);
        bytes = bytes + length;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) throws IOException {
        out.flush();
        ctx.read();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        done.trySuccess(null);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        done.tryFailure(cause);
        ctx.close();
    }
}
