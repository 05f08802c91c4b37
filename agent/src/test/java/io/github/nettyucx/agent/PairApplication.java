// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * {@code server HOST}: greets whoever comes, returns what it gets, and tells what that was, until its standard input has a
 * line. {@code client HOST PORT CONNECTIONS}: reads a greeting, sends a word and reads it back, over one connection after
 * the other. {@code asked HOST PORT}: does so for each line of its standard input.
 */
public final class PairApplication {

    static final String GREETING = "220 ready.";
    static final String WORD = "a word";
    private static final int SECONDS = 30;

    private PairApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        String host = arguments[1];
        switch (arguments[0]) {
            case "server" -> serve(group, host);
            case "client" -> {
                for (int connection = 0; connection < Integer.parseInt(arguments[3]); connection++) {
                    talk(group, host, Integer.parseInt(arguments[2]));
                }
            }
            default -> {
                BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
                while (lines.readLine() != null) {
                    talk(group, host, Integer.parseInt(arguments[2]));
                }
            }
        }
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        System.out.println("done");
    }

    private static void serve(EventLoopGroup group, String host) throws Exception {
        Channel listening = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new Greeter());
                    }
                }).bind(host, 0).sync().channel();
        System.out.println("listening " + ((InetSocketAddress) listening.localAddress()).getPort());
        System.in.read();
        listening.close().sync();
    }

    private static final class Greeter extends SimpleChannelInboundHandler<ByteBuf> {

        private final StringBuilder heard = new StringBuilder();

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.writeAndFlush(text(GREETING));
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            heard.append(message.toString(StandardCharsets.ISO_8859_1));
            context.writeAndFlush(message.retain());
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            System.out.println("heard " + heard.toString().replaceAll("[^ -~]", "."));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            // Of a client that has gone: what it has said is told.
            context.close();
        }
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    private static void talk(EventLoopGroup group, String host, int port) throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        ChannelFuture connected = new Bootstrap().group(group).channel(NioSocketChannel.class)
                .handler(new SimpleChannelInboundHandler<ByteBuf>() {
                    private final StringBuilder all = new StringBuilder();

                    @Override
                    protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
                        boolean greeted = all.length() >= GREETING.length();
                        all.append(message.toString(StandardCharsets.US_ASCII));
                        if (!greeted && all.length() >= GREETING.length()) {
                            context.writeAndFlush(text(WORD));
                        }
                        if (all.length() == GREETING.length() + WORD.length()) {
                            answer.complete(all.toString());
                        }
                    }
                }).connect(host, port).await();
        if (connected.isSuccess()) {
            System.out.println("answer " + answer.get(SECONDS, TimeUnit.SECONDS));
            connected.channel().close().sync();
        } else {
            System.out.println("no connection: " + connected.cause().getMessage());
        }
    }
}
