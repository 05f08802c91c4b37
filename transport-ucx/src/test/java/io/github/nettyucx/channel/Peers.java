// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** The event loops of a server and of a client, with which a test begins; closing it ends them, and all channels. */
public final class Peers implements AutoCloseable {

    private static final long SECONDS = 15;

    final EventLoopGroup serverGroup;
    final EventLoopGroup clientGroup;

    public Peers() {
        this(1, 1, UcxWaitStrategy.ADAPTIVE);
    }

    Peers(int serverLoops, int clientLoops, UcxWaitStrategy waitStrategy) {
        this(TestLoops.newGroup(serverLoops, waitStrategy), TestLoops.newGroup(clientLoops, waitStrategy));
    }

    Peers(EventLoopGroup serverGroup, EventLoopGroup clientGroup) {
        this.serverGroup = serverGroup;
        this.clientGroup = clientGroup;
    }

    // ------------------------------------------------------------------------------------------- server

    ServerBootstrap server(Supplier<ChannelHandler> childHandler) {
        return new ServerBootstrap().group(serverGroup).channel(UcxServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(childHandler.get());
                    }
                });
    }

    /** A server on a free port of 127.0.0.1, whose children have these handlers. */
    UcxServerSocketChannel listen(Supplier<ChannelHandler> childHandler) throws InterruptedException {
        return listen(server(childHandler));
    }

    UcxServerSocketChannel listen(ServerBootstrap server) throws InterruptedException {
        return (UcxServerSocketChannel) await(server.bind(loopback(0))).channel();
    }

    public static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port);
    }

    // ------------------------------------------------------------------------------------------- client

    public Bootstrap client(ChannelHandler handler) {
        return new Bootstrap().group(clientGroup).channel(UcxSocketChannel.class).handler(handler);
    }

    UcxSocketChannel connect(Channel server, ChannelHandler handler) throws InterruptedException {
        return connect(client(handler), server);
    }

    static UcxSocketChannel connect(Bootstrap client, Channel server) throws InterruptedException {
        return (UcxSocketChannel) await(client.connect(server.localAddress())).channel();
    }

    /** The same future, succeeded; fails the test otherwise. */
    public static <F extends Future<?>> F await(F future) throws InterruptedException {
        assertTrue(future.await(SECONDS, TimeUnit.SECONDS), () -> "not done within " + SECONDS + " s: " + future);
        if (!future.isSuccess()) {
            throw new AssertionError(future.toString(), future.cause());
        }
        return future;
    }

    /** The cause of a future that has to fail. */
    public static Throwable awaitFailure(Future<?> future) throws InterruptedException {
        assertTrue(future.await(SECONDS, TimeUnit.SECONDS), () -> "not done within " + SECONDS + " s: " + future);
        assertTrue(future.cause() != null, () -> "should have failed: " + future);
        return future.cause();
    }

    @Override
    public void close() {
        Future<?> server = serverGroup.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        Future<?> client = clientGroup.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        assertTrue(server.awaitUninterruptibly(2 * SECONDS, TimeUnit.SECONDS), "the server's loops do not end");
        assertTrue(client.awaitUninterruptibly(2 * SECONDS, TimeUnit.SECONDS), "the client's loops do not end");
    }
}
