// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.Explanation;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Does what the client announces, one phase after the other. */
final class ServerHandler extends ChannelInboundHandlerAdapter {
    private ByteBuf header;
    private ByteBuf message;
    private Sender sender;
    /** {@code null} while a header is expected. */
    private Phase phase;
    /** Bytes of the phase that have not arrived. */
    private long missing;
    /** Bytes of the message under way that have not arrived. */
    private int missingOfMessage;

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        header = ctx.alloc().buffer(Phase.HEADER, Phase.HEADER);
        sender = new Sender(ctx);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        var in = (ByteBuf) msg;
        while (in.isReadable()) {
            if (phase == null) {
                readHeader(ctx, in);
            } else if (phase.kind() == Phase.Kind.ECHO) {
                if (echo(ctx, in)) {
                    return;
                }
            } else {
                count(ctx, in);
            }
        }
        in.release();
    }

    private void readHeader(ChannelHandlerContext ctx, ByteBuf in) {
        in.readBytes(header, Math.min(header.writableBytes(), in.readableBytes()));
        if (header.isWritable()) {
            return;
        }
        phase = Phase.decode(header);
        header.clear();
        missing = phase.count() == Phase.ENDLESS ? Phase.ENDLESS : phase.count() * phase.size();
        missingOfMessage = phase.size();
        if (phase.kind() == Phase.Kind.BOTH_WAYS) {
            if (message == null || message.readableBytes() != phase.size()) {
                releaseMessage();
                // As large as it may be: TLS would have it grow, to collect what follows it in one record.
                message = ctx.alloc().directBuffer(phase.size(), phase.size()).writeZero(phase.size());
            }
            sender.start(phase, message);
        }
    }

    /** Writes the parts of a message as they come, without a copy, and flushes behind the last; @return if it took in */
    private boolean echo(ChannelHandlerContext ctx, ByteBuf in) {
        var whole = in.readableBytes() <= missingOfMessage;
        var part = whole ? in : in.readRetainedSlice(missingOfMessage);
        var length = part.readableBytes();
        missing -= length;
        missingOfMessage -= length;
        var complete = missingOfMessage == 0;
        if (complete) {
            missingOfMessage = phase.size();
        }
        if (missing == 0) {
            phase = null;
        }
        ctx.write(part, ctx.voidPromise());
        if (complete) {
            ctx.flush();
        }
        return whole;
    }

    private void count(ChannelHandlerContext ctx, ByteBuf in) {
        var length = (int) Math.min(missing, in.readableBytes());
        in.skipBytes(length);
        missing -= length;
        if (missing == 0) {
            phase = null;
            ctx.writeAndFlush(ctx.alloc().directBuffer(Phase.ACKNOWLEDGEMENT).writeByte(0), ctx.voidPromise());
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        sender.writabilityChanged();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        System.err.println("connection from " + ctx.channel().remoteAddress() + " dropped: " + Explanation.of(cause));
        ctx.close();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        header.release();
        releaseMessage();
    }

    private void releaseMessage() {
        if (message != null) {
            message.release();
            message = null;
        }
    }
}
