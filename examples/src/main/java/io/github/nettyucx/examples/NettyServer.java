// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** A server on event loops of its own, for any number of clients. */
public final class NettyServer implements RunningServer {
    private static final long SHUTDOWN_SECONDS = 5;

    private final EventLoopGroup group;
    private final Channel channel;

    private NettyServer(EventLoopGroup group, Channel channel) {
        this.group = group;
        this.channel = channel;
    }

    /**
     * Returns when the server accepts connections.
     *
     * @param threads that serve; one of them accepts too, as a listener needs no event loop of its own
     * @param bootstrap everything else about the server
     * @throws ExampleFailure if it cannot listen there
     */
    public static NettyServer start(TransportKind transport, HostAndPort address, int threads,
                                    ServerBootstrap bootstrap) {
        transport.ensureAvailable();
        return start(transport, address, transport.newEventLoopGroup(threads), bootstrap);
    }

    /**
     * As {@link #start(TransportKind, HostAndPort, int, ServerBootstrap)}, on loops for which the caller has work of its own.
     *
     * @param group ends with the server, or if it cannot listen
     */
    public static NettyServer start(TransportKind transport, HostAndPort address, EventLoopGroup group,
                                    ServerBootstrap bootstrap) {
        ChannelFuture bound;
        try {
            bound = bootstrap
                    .group(group)
                    .channel(transport.serverSocketChannel())
                    .bind(address.resolve())
                    .awaitUninterruptibly();
        } catch (RuntimeException e) {
            shutdown(group);
            throw e;
        }
        if (!bound.isSuccess()) {
            shutdown(group);
            throw new ExampleFailure("cannot listen on " + address + ": " + Explanation.of(bound.cause()),
                    bound.cause());
        }
        return new NettyServer(group, bound.channel());
    }

    @Override
    public HostAndPort address() {
        return HostAndPort.of((InetSocketAddress) channel.localAddress());
    }

    @Override
    public void stop() {
        channel.close();
    }

    @Override
    public void awaitStop() throws InterruptedException {
        channel.closeFuture().sync();
    }

    @Override
    public void close() {
        shutdown(group);
    }

    private static void shutdown(EventLoopGroup group) {
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
