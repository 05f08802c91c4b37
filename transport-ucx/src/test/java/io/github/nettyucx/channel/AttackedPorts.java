// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Where strangers come to.
 *
 * @param open   a server
 * @param secret another one, with a secret
 */
record AttackedPorts(Channel open, Channel secret) {

    private static final String LANES = "shm,tcp,socket";
    private static final byte[] SECRET = "sixteen bytes and more".getBytes(StandardCharsets.US_ASCII);
    private static final int WARM_UP = 50;
    /** For strangers. */
    static final int TIMEOUT_MILLIS = 1000;
    /** The rest is for a busy machine. */
    private static final int CLOSED_WITHIN_MILLIS = TIMEOUT_MILLIS + 15_000;
    private static final int SLOW_MILLIS = 20;

    /** Two of this transport, on one loop, that serve {@link Customers} of all lanes. */
    static AttackedPorts listen(Peers peers, LeakWatch leaks) throws InterruptedException {
        return new AttackedPorts(peers.listen(server(peers, leaks)),
                peers.listen(server(peers, leaks).childOption(UcxChannelOption.SHARED_SECRET, SECRET)));
    }

    private static ServerBootstrap server(Peers peers, LeakWatch leaks) {
        return peers.server(() -> new ChannelInitializer<UcxSocketChannel>() {
            @Override
            protected void initChannel(UcxSocketChannel channel) {
                if (Stranger.isOne(channel.remoteAddress())) {
                    channel.config().setOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, TIMEOUT_MILLIS);
                }
                channel.pipeline().addLast(new Customers.Clerk());
            }
        })
                .childOption(UcxChannelOption.LANES, LANES)
                .childOption(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.REFUSE)
                .childOption(ChannelOption.ALLOCATOR, leaks.allocator);
    }

    /** Of Netty's epoll transport, or where its library is missing of its portable one. */
    static EventLoopGroup newKernelLoop() {
        return Epoll.isAvailable() ? new EpollEventLoopGroup(1) : new NioEventLoopGroup(1);
    }

    /** A server of Netty's, to be compared with, on what {@link #newKernelLoop} has made. */
    static Channel listenAtKernel(EventLoopGroup loop, Supplier<ChannelHandler> handler) throws InterruptedException {
        return Peers.await(new ServerBootstrap().group(loop)
                .channel(Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(handler.get());
                    }
                }).bind(Peers.loopback(0))).channel();
    }

    Customers customers(Peers peers, String lane) throws InterruptedException {
        return new Customers(peers.client(new ChannelInboundHandlerAdapter()).option(UcxChannelOption.LANES, lane), open);
    }

    // ------------------------------------------------------------------------------------------- strangers

    /** Pools fill, code is compiled. */
    void warmUp(List<Stranger.Kind> kinds, SplittableRandom random) throws Exception {
        for (Stranger.Kind kind : kinds) {
            wave(kind, WARM_UP, random);
        }
    }

    /**
     * So many come together, and stay until the server has closed their connections.
     *
     * @return when the last one's was, in nanoseconds since the first one came
     */
    long wave(Stranger.Kind kind, int size, SplittableRandom random) throws Exception {
        List<Stranger> strangers = new ArrayList<>(size);
        long start = System.nanoTime();
        try {
            for (int i = 0; i < size; i++) {
                Stranger stranger = new Stranger(kind, address(kind), random);
                strangers.add(stranger);
                stranger.come();
            }
            if (kind == Stranger.Kind.SLOW) {
                while (System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MILLIS)) {
                    for (Stranger stranger : strangers) {
                        stranger.sayMore();
                    }
                    // That is what they are: a byte now and then.
                    Thread.sleep(SLOW_MILLIS);
                }
            }
            for (Stranger stranger : strangers) {
                stranger.awaitEnd(CLOSED_WITHIN_MILLIS);
            }
            return System.nanoTime() - start;
        } finally {
            for (Stranger stranger : strangers) {
                stranger.close();
            }
        }
    }

    private InetSocketAddress address(Stranger.Kind kind) {
        return (InetSocketAddress) (kind.needsSecret() ? secret : open).localAddress();
    }
}
