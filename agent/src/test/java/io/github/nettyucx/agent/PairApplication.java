// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

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

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

/**
 * {@code server}: greets whoever comes, and returns what it gets, until its standard input ends. {@code client PORT
 * CONNECTIONS}: reads a greeting, sends a word and reads it back, over one connection after the other.
 */
public final class PairApplication {

    static final String GREETING = "220 ready.";
    static final String WORD = "a word";
    private static final int SECONDS = 30;

    private PairApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        if (arguments[0].equals("server")) {
            serve(group);
        } else {
            for (int connection = 0; connection < Integer.parseInt(arguments[2]); connection++) {
                talk(group, Integer.parseInt(arguments[1]));
            }
        }
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        System.out.println("done");
    }

    private static void serve(EventLoopGroup group) throws Exception {
        Channel listening = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelActive(ChannelHandlerContext context) {
                                context.writeAndFlush(text(GREETING));
                            }

                            @Override
                            public void channelRead(ChannelHandlerContext context, Object message) {
                                context.writeAndFlush(message);
                            }
                        });
                    }
                }).bind("127.0.0.1", 0).sync().channel();
        System.out.println("listening " + ((InetSocketAddress) listening.localAddress()).getPort());
        System.in.read();
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    private static void talk(EventLoopGroup group, int port) throws Exception {
        SynchronousQueue<String> answers = new SynchronousQueue<>();
        Channel channel = new Bootstrap().group(group).channel(NioSocketChannel.class)
                .handler(new SimpleChannelInboundHandler<ByteBuf>() {
                    private final StringBuilder all = new StringBuilder();

                    @Override
                    protected void channelRead0(ChannelHandlerContext context, ByteBuf message) throws Exception {
                        boolean greeted = all.length() >= GREETING.length();
                        all.append(message.toString(StandardCharsets.US_ASCII));
                        if (!greeted && all.length() >= GREETING.length()) {
                            context.writeAndFlush(text(WORD));
                        }
                        if (all.length() == GREETING.length() + WORD.length()) {
                            answers.put(all.toString());
                        }
                    }
                }).connect("127.0.0.1", port).sync().channel();
        System.out.println("answer " + answers.poll(SECONDS, TimeUnit.SECONDS));
        channel.close().sync();
    }
}
