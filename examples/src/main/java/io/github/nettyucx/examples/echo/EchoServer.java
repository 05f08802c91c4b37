// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.echo;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.NettyServer;
import io.github.nettyucx.examples.TransportKind;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;

/** A server for any number of clients. */
final class EchoServer {
    private EchoServer() {
    }

    /** Returns when the server accepts connections. */
    static NettyServer start(TransportKind transport, HostAndPort address) {
        var handler = new EchoServerHandler();
        return NettyServer.start(transport, address, 1, new ServerBootstrap()
                // Without this the end of the client's output would close the connection under the rest of the echo.
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        connection.pipeline().addLast(handler);
                    }
                }));
    }
}
