// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/** Makes connections to one server, on an event loop that goes with this object. Its methods block. */
final class ClientConnections implements AutoCloseable {
    /** More than anything here takes on a busy machine. */
    static final long PATIENCE_SECONDS = 60;

    private static final long SHUTDOWN_SECONDS = 5;

    private final HttpTarget target;
    private final EventLoopGroup group;

    /**
     * @throws ExampleFailure if the transport cannot be used here
     */
    ClientConnections(HttpTarget target) {
        this.target = target;
        target.transport().ensureAvailable();
        group = target.transport().newEventLoopGroup(1);
    }

    HttpTarget target() {
        return target;
    }

    /** One for requests. */
    HttpConnection open() throws InterruptedException {
        if (target.protocol() == HttpProtocol.HTTP_2) {
            var handlers = new Http2Client();
            return new Http2Connection(connect(handlers), target, handlers);
        }
        var replies = new ReplyHandler();
        return new Http1Connection(connect(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel connection) {
                connection.pipeline().addLast(new HttpClientCodec(), replies);
            }
        }), target, replies);
    }

    /**
     * Connects, and agrees on TLS and the protocol where there is TLS.
     *
     * @param handlers come after that of TLS
     * @throws ExampleFailure if that does not succeed
     */
    Channel connect(ChannelHandler handlers) throws InterruptedException {
        var tls = Tls.ofClient(target.trust(), target.protocol());
        var server = target.server();
        var connecting = new Bootstrap()
                .group(group)
                .channel(target.transport().socketChannel())
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        if (tls != null) {
                            connection.pipeline().addLast(
                                    tls.newHandler(connection.alloc(), server.host(), server.port()));
                        }
                        connection.pipeline().addLast(handlers);
                    }
                })
                .connect(server.resolve());
        await(connecting, "cannot connect to " + server);
        var connection = connecting.channel();
        var handler = connection.pipeline().get(SslHandler.class);
        if (handler != null) {
            await(handler.handshakeFuture(), "no TLS with " + server);
            var agreed = handler.applicationProtocol();
            if (!target.protocol().alpn().equals(agreed)) {
                throw new ExampleFailure(server + " speaks " + agreed + " where " + target.protocol().title()
                        + " was offered");
            }
        }
        return connection;
    }

    private static void await(Future<?> future, String otherwise) throws InterruptedException {
        if (!future.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new ExampleFailure(otherwise + ": nothing happened for " + PATIENCE_SECONDS + " s");
        }
        if (!future.isSuccess()) {
            throw new ExampleFailure(otherwise + ": " + Explanation.of(future.cause()), future.cause());
        }
    }

    /**
     * @param what is waited for, for the message if it does not come
     */
    static <T> T await(CompletableFuture<T> future, String what) throws InterruptedException {
        return await(future, what, () -> 0, PATIENCE_SECONDS);
    }

    /**
     * The same for what comes in parts, and may take any time as long as they come.
     *
     * @param parts how many have come so far
     */
    static <T> T await(CompletableFuture<T> future, String what, LongSupplier parts, long patienceSeconds)
            throws InterruptedException {
        var before = 0L;
        while (true) {
            try {
                return future.get(patienceSeconds, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw new ExampleFailure(what + ": " + Explanation.of(e.getCause()), e.getCause());
            } catch (TimeoutException e) {
                var now = parts.getAsLong();
                if (now == before) {
                    throw new ExampleFailure(what + ": nothing came for " + patienceSeconds + " s", e);
                }
                before = now;
            }
        }
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
