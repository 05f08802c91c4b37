// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Peers;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What the machine keeps everybody in this process from, until the process ends: a heartbeat within it over the kernel's
 * TCP, by NIO, which shares nothing else with the transport.
 */
final class Control {

    /** A time limit is missed by seconds, to which no shorter waits add up. */
    private static final long NOTABLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Heartbeat heartbeat = new Heartbeat("control, own process", 16);

    Control() throws InterruptedException {
        EventLoopGroup group = new NioEventLoopGroup(2);
        Channel server = Peers.await(new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new EchoMain.Echo()).bind(Peers.loopback(0))).channel();
        Peers.await(new Bootstrap().group(group).channel(NioSocketChannel.class).handler(heartbeat)
                .connect(server.localAddress()));
    }

    /** When it waited, in order. */
    List<Heartbeat.Gap> gaps() {
        return heartbeat.gaps();
    }

    /** For how many nanoseconds of a time the process stood still. */
    long heldUp(long from, long to) {
        return Pulse.covered(new Heartbeat.Gap(from, Math.max(from, to)),
                gaps().stream().filter(gap -> gap.nanos() >= NOTABLE_NANOS).toList());
    }
}
