// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.relay;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;

/**
 * One of the two channels of a relayed connection. What comes in goes out at the other one: bytes, the end of them, and
 * a reset; and it comes in no faster than it goes out.
 *
 * <p>The two channels may be on different event loops. Writes from one to the other keep their order, because a loop
 * takes them in the order in which they were given.
 */
final class RelayHandler extends ChannelInboundHandlerAdapter {
    private final RelayedConnection connection;
    private final RelayedConnection.Direction incoming;
    private final SocketChannel other;

    /**
     * @param incoming what this channel receives
     * @param other where that goes
     */
    RelayHandler(RelayedConnection connection, RelayedConnection.Direction incoming, SocketChannel other) {
        this.connection = connection;
        this.incoming = incoming;
        this.other = other;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        connection.count(incoming, ((ByteBuf) msg).readableBytes());
        // A write that fails ends up in the other handler's exceptionCaught.
        other.write(msg, other.voidPromise());
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        other.flush();
    }

    /** This channel is full, or has room again: the other one reads as long as there is room. */
    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        other.config().setAutoRead(ctx.channel().isWritable());
        ctx.fireChannelWritabilityChanged();
    }

    /** The sender has ended its output; it may still read. */
    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            // What is still unsent would fail if the output were shut down now, so this goes behind it.
            other.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> {
                if (written.isSuccess()) {
                    other.shutdownOutput().addListener(_ -> ended(ctx.channel()));
                }
            });
        }
        ctx.fireUserEventTriggered(event);
    }

    private void ended(Channel channel) {
        if (connection.ended(incoming)) {
            channel.close();
            other.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        connection.failed(cause);
        reset(ctx.channel());
        reset(other);
    }

    /** Closed from the far side, without an end of the bytes before: that is a reset. */
    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (!connection.isOver()) {
            reset(other);
        }
        ctx.fireChannelInactive();
    }

    /** Closes so that the far side sees a reset instead of an end. */
    static ChannelFuture reset(Channel channel) {
        try {
            ((SocketChannel) channel).config().setSoLinger(0);
        } catch (ChannelException e) {
            // Closed already.
        }
        return channel.close();
    }
}
