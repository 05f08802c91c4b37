// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;

import java.io.Closeable;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The other side of a connection under test, used as {@link java.net.Socket} is. */
final class BlockingPeer extends SimpleChannelInboundHandler<ByteBuf> implements Closeable {

    private static final int END_OF_STREAM = -1;
    private static final int TIMEOUT_SECONDS = 20;

    private final BlockingQueue<Integer> input = new LinkedBlockingQueue<>();
    private volatile UcxSocketChannel channel;

    void connect(SocketAddress address) throws IOException {
        await(startToConnect(address));
    }

    ChannelFuture startToConnect(SocketAddress address) {
        return new Bootstrap().group(UcxPermutation.INSTANCE.loops).channel(UcxSocketChannel.class)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true).handler(this).connect(address);
    }

    void write(int value) throws IOException {
        await(channel.writeAndFlush(Unpooled.directBuffer(1).writeByte(value)));
    }

    /** @return the next byte, or -1 at the end of the stream */
    int read() throws IOException {
        Integer value;
        try {
            value = input.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        if (value == null) {
            throw new SocketTimeoutException("nothing to read within " + TIMEOUT_SECONDS + " s");
        }
        return value;
    }

    void shutdownOutput() throws IOException {
        await(channel.shutdownOutput());
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            await(channel.close());
        }
    }

    private static void await(ChannelFuture future) throws IOException {
        if (!future.awaitUninterruptibly(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new SocketTimeoutException("not done within " + TIMEOUT_SECONDS + " s: " + future);
        }
        if (!future.isSuccess()) {
            throw new IOException(future.cause());
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        channel = (UcxSocketChannel) context.channel();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
        while (bytes.isReadable()) {
            input.add((int) bytes.readByte());
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            input.add(END_OF_STREAM);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        input.add(END_OF_STREAM);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // A reset: its channelInactive follows.
        context.close();
    }

    /** Accepts peers, used as {@link java.net.ServerSocket} is. */
    static final class Server implements Closeable {

        private final BlockingQueue<BlockingPeer> accepted = new LinkedBlockingQueue<>();
        private final Channel channel;

        Server(SocketAddress address) {
            channel = new ServerBootstrap()
                    .group(UcxPermutation.INSTANCE.accepting, UcxPermutation.INSTANCE.loops)
                    .channel(UcxServerSocketChannel.class)
                    .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel child) {
                            BlockingPeer peer = new BlockingPeer();
                            child.pipeline().addLast(peer);
                            accepted.add(peer);
                        }
                    }).bind(address).syncUninterruptibly().channel();
        }

        SocketAddress localAddress() {
            return channel.localAddress();
        }

        BlockingPeer accept() throws IOException {
            try {
                BlockingPeer peer = accepted.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
                if (peer == null) {
                    throw new SocketTimeoutException("nobody connected within " + TIMEOUT_SECONDS + " s");
                }
                return peer;
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }

        @Override
        public void close() throws IOException {
            await(channel.close());
        }
    }
}
