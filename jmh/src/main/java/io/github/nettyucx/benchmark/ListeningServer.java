// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** A server at a free port of this host, with a group of event loops of its own. */
abstract class ListeningServer implements MeasuredServer {
    private static final long SHUTDOWN_SECONDS = 5;

    private final EventLoopGroup group;
    private final long[] threads;
    private final Channel channel;

    /** @param bootstrap with everything but the group and the address */
    ListeningServer(EventLoopGroup group, ServerBootstrap bootstrap) throws InterruptedException {
        this.group = group;
        threads = Loops.start(group);
        var bound = bootstrap.group(group).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            close();
            throw new ExampleFailure("cannot listen: " + Explanation.of(bound.cause()), bound.cause());
        }
        channel = bound.channel();
    }

    final HostAndPort address() {
        return HostAndPort.of((InetSocketAddress) channel.localAddress());
    }

    @Override
    public final ProcessState state() {
        return ProcessState.now(threads);
    }

    @Override
    public final void stop() {
        channel.close();
    }

    @Override
    public final void awaitStop() throws InterruptedException {
        channel.closeFuture().sync();
    }

    @Override
    public final void close() {
        group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
