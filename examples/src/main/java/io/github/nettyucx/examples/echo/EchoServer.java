// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.echo;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** A server for any number of clients. */
final class EchoServer implements AutoCloseable {
    private static final long SHUTDOWN_SECONDS = 5;

    private final EventLoopGroup group;
    private final Channel channel;

    private EchoServer(EventLoopGroup group, Channel channel) {
        this.group = group;
        this.channel = channel;
    }

    /** Returns when the server accepts connections. */
    static EchoServer start(TransportKind transport, HostAndPort address) {
        transport.ensureAvailable();
        var local = address.resolve();
        var handler = new EchoServerHandler();
        var group = transport.newEventLoopGroup(1);
        var bound = new ServerBootstrap()
                .group(group)
                .channel(transport.serverSocketChannel())
                // Without this the end of the client's output would close the connection under the rest of the echo.
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        connection.pipeline().addLast(handler);
                    }
                })
                .bind(local)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
            throw new ExampleFailure("cannot listen on " + address + ": " + Explanation.of(bound.cause()),
                    bound.cause());
        }
        return new EchoServer(group, bound.channel());
    }

    HostAndPort address() {
        return HostAndPort.of((InetSocketAddress) channel.localAddress());
    }

    void awaitStop() throws InterruptedException {
        channel.closeFuture().sync();
    }

    /** Closes all connections in an orderly way; safe from any thread, and more than once. */
    @Override
    public void close() {
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
