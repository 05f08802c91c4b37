// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * {@code server}: reads from a client some time after that has come, and tells how much. {@code client PORT}: ends as soon as
 * it has written.
 */
public final class LastWordsApplication {

    static final int BYTES = 8 * 1024 * 1024;
    /** Until then the client's JVM has begun to end, with most of the bytes. */
    private static final int MILLIS = 1000;

    private LastWordsApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        if (arguments[0].equals("client")) {
            new Bootstrap().group(group).channel(NioSocketChannel.class).handler(new ChannelInboundHandlerAdapter())
                    .connect("127.0.0.1", Integer.parseInt(arguments[1])).sync().channel()
                    .writeAndFlush(Unpooled.directBuffer(BYTES).writeZero(BYTES));
            System.exit(0);
        }
        CountDownLatch end = new CountDownLatch(1);
        Channel listening = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.AUTO_READ, false)
                .childHandler(new SimpleChannelInboundHandler<ByteBuf>() {
                    private int got;

                    @Override
                    public void channelActive(ChannelHandlerContext context) {
                        context.executor().schedule(() -> context.channel().config().setAutoRead(true), MILLIS,
                                TimeUnit.MILLISECONDS);
                    }

                    @Override
                    protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
                        got += message.readableBytes();
                    }

                    @Override
                    public void channelInactive(ChannelHandlerContext context) {
                        System.out.println("got " + got);
                        end.countDown();
                    }
                }).bind("127.0.0.1", 0).sync().channel();
        System.out.println("listening " + ((InetSocketAddress) listening.localAddress()).getPort());
        end.await();
        System.exit(0);
    }
}
