// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.relay;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Takes connections on one side, and makes one on the other for each. */
final class RelayServer implements AutoCloseable {
    private static final int CONNECT_TIMEOUT_MILLIS = 10_000;
    private static final long SHUTDOWN_SECONDS = 5;
    /** Bootstrap wants one; each channel gets its handler when it has its partner. */
    private static final ChannelHandler NONE = new Nothing();

    private final Side to;
    private final Consumer<String> log;
    private final EventLoopGroup near;
    private final EventLoopGroup far;
    private final InetSocketAddress target;
    private Channel listening;

    private RelayServer(Side listen, Side to, Consumer<String> log) {
        this.to = to;
        this.log = log;
        target = to.address().resolve();
        near = listen.transport().newEventLoopGroup(1);
        far = to.transport().newEventLoopGroup(1);
    }

    /**
     * Returns when the relay accepts connections.
     *
     * @param log is told of connections that are over; from any thread
     */
    static RelayServer start(Side listen, Side to, Consumer<String> log) {
        listen.transport().ensureAvailable();
        to.transport().ensureAvailable();
        var local = listen.address().resolve();
        var relay = new RelayServer(listen, to, log);
        var bound = new ServerBootstrap()
                .group(relay.near)
                .channel(listen.transport().serverSocketChannel())
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel client) {
                        client.pipeline().addLast(relay.new Accepted());
                    }
                })
                .bind(local)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            relay.close();
            throw new ExampleFailure("cannot listen on " + listen + ": " + Explanation.of(bound.cause()),
                    bound.cause());
        }
        relay.listening = bound.channel();
        return relay;
    }

    HostAndPort address() {
        return HostAndPort.of((InetSocketAddress) listening.localAddress());
    }

    void awaitStop() throws InterruptedException {
        listening.closeFuture().sync();
    }

    /** Safe from any thread, and more than once. */
    @Override
    public void close() {
        near.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
        far.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    /** A client that waits for its server; as long as it does, nothing is read from it. */
    private final class Accepted extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            var client = (SocketChannel) ctx.channel();
            var name = HostAndPort.of(client.remoteAddress()).toString();
            new Bootstrap()
                    .group(far)
                    .channel(to.transport().socketChannel())
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS)
                    .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    .option(ChannelOption.AUTO_READ, false)
                    .option(ChannelOption.TCP_NODELAY, true)
                    .handler(NONE)
                    .connect(target)
                    .addListener(connecting -> {
                        var server = (SocketChannel) ((ChannelFuture) connecting).channel();
                        if (connecting.isSuccess()) {
                            join(name, client, server);
                        } else {
                            log.accept(name + ": cannot connect to " + to + ": "
                                    + Explanation.of(connecting.cause()));
                            RelayHandler.reset(client);
                        }
                    });
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // The server's side is closed as soon as it is there.
            ctx.close();
        }
    }

    private void join(String name, SocketChannel client, SocketChannel server) {
        var connection = new RelayedConnection(name, log);
        server.pipeline().addLast(new RelayHandler(connection, RelayedConnection.Direction.TO_CLIENT, client));
        // In the client's loop, where it cannot be closed between the two.
        client.eventLoop().execute(() -> {
            client.pipeline().removeFirst();
            client.pipeline().addLast(new RelayHandler(connection, RelayedConnection.Direction.TO_SERVER, server));
            if (client.isActive()) {
                client.config().setAutoRead(true);
                server.config().setAutoRead(true);
            } else {
                RelayHandler.reset(server);
            }
        });
    }

    @ChannelHandler.Sharable
    private static final class Nothing extends ChannelInboundHandlerAdapter {
    }
}
