// SPDX-License-Identifier: Apache-2.0
package org.example.application;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * An application that is a module with Netty inside: a server, and a client that gets its word back. Not in a package of the
 * agent's, which is on the class path and would be of two modules.
 */
public final class ModularApplication {

    private static final int SECONDS = 30;

    private ModularApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("module " + ModularApplication.class.getModule().getName());
        EventLoopGroup group = new NioEventLoopGroup(2);
        Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext context, Object message) {
                                context.writeAndFlush(message);
                            }
                        });
                    }
                }).bind("127.0.0.1", 0).sync().channel();
        CompletableFuture<String> answer = new CompletableFuture<>();
        Channel client = new Bootstrap().group(group).channel(NioSocketChannel.class)
                .handler(new SimpleChannelInboundHandler<ByteBuf>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
                        answer.complete(message.toString(StandardCharsets.US_ASCII));
                    }
                }).connect(server.localAddress()).sync().channel();
        client.writeAndFlush(Unpooled.copiedBuffer("word", StandardCharsets.US_ASCII)).sync();
        System.out.println(client.getClass().getSimpleName() + " has got " + answer.get(SECONDS, TimeUnit.SECONDS));
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
    }
}
