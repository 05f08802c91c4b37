// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.NettyServer;
import io.github.nettyucx.examples.TransportKind;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;

/** Returns every message to its sender, to any number of clients, until it is stopped. */
final class PingPongServer {
    private static final int BACKLOG = 1024;

    private PingPongServer() {
    }

    /** Returns when the server accepts connections. */
    static NettyServer start(TransportKind transport, HostAndPort address, int threads) {
        return NettyServer.start(transport, address, threads, new ServerBootstrap()
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        connection.pipeline().addLast(new PreambleDecoder());
                    }
                }));
    }

    /** A connection that misbehaves or breaks goes alone; the others do not notice. */
    static void dropConnection(ChannelHandlerContext ctx, Throwable cause) {
        System.err.println("connection from " + ctx.channel().remoteAddress() + " dropped: "
                + Explanation.of(cause));
        ctx.close();
    }
}
