// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** Returns every message to its sender, to any number of clients, until it is stopped. */
final class PingPongServer implements AutoCloseable {
    private static final int BACKLOG = 1024;
    private static final long SHUTDOWN_SECONDS = 5;

    private final EventLoopGroup group;
    private final Channel channel;

    private PingPongServer(EventLoopGroup group, Channel channel) {
        this.group = group;
        this.channel = channel;
    }

    /** Returns when the server accepts connections. */
    static PingPongServer start(TransportKind transport, HostAndPort address, int threads) {
        transport.ensureAvailable();
        var local = address.resolve();
        // One group accepts and serves: a listener needs no event loop of its own once the clients are connected.
        var group = transport.newEventLoopGroup(threads);
        var bound = new ServerBootstrap()
                .group(group)
                .channel(transport.serverSocketChannel())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        connection.pipeline().addLast(new PreambleDecoder());
                    }
                })
                .bind(local)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
            throw new ExampleFailure("cannot listen on " + address + ": " + Explanation.of(bound.cause()),
                    bound.cause());
        }
        return new PingPongServer(group, bound.channel());
    }

    HostAndPort address() {
        return HostAndPort.of((InetSocketAddress) channel.localAddress());
    }

    /** Makes {@link #awaitStop} return; safe from any thread, and more than once. */
    void stop() {
        channel.close();
    }

    void awaitStop() throws InterruptedException {
        channel.closeFuture().sync();
    }

    /** Closes all connections in an orderly way; safe from any thread, and more than once. */
    @Override
    public void close() {
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    /** A connection that misbehaves or breaks goes alone; the others do not notice. */
    static void dropConnection(ChannelHandlerContext ctx, Throwable cause) {
        System.err.println("connection from " + ctx.channel().remoteAddress() + " dropped: "
                + Explanation.of(cause));
        ctx.close();
    }
}
