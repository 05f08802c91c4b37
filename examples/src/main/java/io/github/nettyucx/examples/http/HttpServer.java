// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.ssl.SslContext;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** Serves a directory's files and a WebSocket to any number of clients. */
final class HttpServer implements AutoCloseable {
    private static final long SHUTDOWN_SECONDS = 5;

    private final EventLoopGroup group;
    private final Channel channel;

    private HttpServer(EventLoopGroup group, Channel channel) {
        this.group = group;
        this.channel = channel;
    }

    /**
     * Returns when the server accepts connections.
     *
     * @param tls {@code null} for none
     */
    static HttpServer start(TransportKind transport, HostAndPort address, SslContext tls, FileDirectory files) {
        transport.ensureAvailable();
        var local = address.resolve();
        var group = transport.newEventLoopGroup(1);
        var bound = new ServerBootstrap()
                .group(group)
                .channel(transport.serverSocketChannel())
                .childHandler(new ServerPipeline(tls, files))
                .bind(local)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
            throw new ExampleFailure("cannot listen on " + address + ": " + Explanation.of(bound.cause()),
                    bound.cause());
        }
        return new HttpServer(group, bound.channel());
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
