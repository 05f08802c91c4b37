// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.LoopState;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;

import java.net.InetSocketAddress;

/** A program that sends everything back. */
final class EchoMain {

    /** A command: the same over the kernel's sockets, without this transport. */
    static final String BY_NIO = "nio";
    /** A command: the same, and what is large enough for a rendezvous is taken, and sent back, in one. */
    static final String BY_RENDEZVOUS = "rendezvous";
    /** A command: says what the loop has, as a {@link LoopState}. */
    static final String STATE = "state";

    private static final long IDLE_MILLIS = 20;

    private EchoMain() {
    }

    /** @param arguments the {@code HANDSHAKE_TIMEOUT_MILLIS}, or nothing */
    public static void main(String[] arguments) throws Exception {
        LoadedClasses.loadAll();
        EventLoopGroup group = TestLoops.newGroup(1);
        ServerBootstrap bootstrap = new ServerBootstrap().group(group)
                .channel(UcxServerSocketChannel.class).childHandler(new Echo());
        if (arguments.length > 0) {
            bootstrap.childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, Integer.valueOf(arguments[0]));
        }
        InetSocketAddress address = (InetSocketAddress) bootstrap.bind(Peers.loopback(0)).sync()
                .channel().localAddress();
        Child.say("port " + address.getPort());
        for (;;) {
            String command = Child.nextCommand();
            if (command.equals(BY_RENDEZVOUS)) {
                Channel other = new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                        .childOption(ChannelOption.SO_RCVBUF, Traffic.WINDOW).childOption(
                                ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(Traffic.RENDEZVOUS_BYTES))
                        .childHandler(new Echo()).bind(Peers.loopback(0)).sync().channel();
                Child.say("port " + ((InetSocketAddress) other.localAddress()).getPort());
            } else if (command.equals(BY_NIO)) {
                Channel nio = new ServerBootstrap().group(new NioEventLoopGroup(1)).channel(NioServerSocketChannel.class)
                        .childHandler(new Echo()).bind(Peers.loopback(0)).sync().channel();
                Child.say("port " + ((InetSocketAddress) nio.localAddress()).getPort());
            } else if (command.equals(STATE)) {
                Child.say(STATE + ' ' + LoopState.of(group, IDLE_MILLIS));
            }
        }
    }

    /** Reads no more than it can send back. */
    @ChannelHandler.Sharable
    static final class Echo extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            context.channel().config().setAutoRead(context.channel().isWritable());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }
}
