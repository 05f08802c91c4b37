// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.release;

import io.github.nettyucx.channel.Ucx;
import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** Connects to itself, and says over which lane, and which UCX and which module did it. */
public final class ConnectMain {

    private ConnectMain() {
    }

    public static void main(String[] arguments) throws InterruptedException {
        EventLoopGroup group = new UcxEventLoopGroup(1);
        Channel server = new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter())
                .bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        UcxSocketChannel client = (UcxSocketChannel) new Bootstrap().group(group).channel(UcxSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
        String lane = client.lane();
        client.close().sync();
        group.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
        System.out.println("connected over " + lane + " by UCX " + Ucx.version() + " in " + UcxSocketChannel.class.getModule());
    }
}
