// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.vertx;

import io.github.nettyucx.channel.Ucx;
import io.github.nettyucx.channel.UcxChannelOption;
import io.github.nettyucx.channel.UcxDatagramChannel;
import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.DatagramChannelConfig;
import io.netty.channel.socket.InternetProtocolFamily;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.net.ClientOptionsBase;
import io.vertx.core.net.NetServerOptions;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;

/**
 * Has a Vert.x instance run over UCX:
 * <pre>{@code
 * Vertx vertx = Vertx.builder().withTransport(new UcxTransport()).build();
 * }</pre>
 * All its TCP and HTTP servers then take peers of this transport and ordinary ones. Its clients expect servers of this
 * transport, unless the system property {@code io.github.nettyucx.connectMode} says otherwise. Datagrams, and so the DNS,
 * go over UDP.
 * <p>
 * Without UCX connections go over the kernel's sockets; whether there is UCX {@link #available()} says.
 * <p>
 * One object may serve any number of instances. Any thread may call.
 */
public final class UcxTransport implements io.vertx.core.transport.Transport, io.vertx.core.spi.transport.Transport {

    /** The transport knows it by the last part of its name. */
    private static final ChannelOption<Integer> USER_TIMEOUT = ChannelOption.valueOf(UcxTransport.class, "TCP_USER_TIMEOUT");

    private final UcxWaitStrategy waitStrategy;

    /** With the default wait strategy. */
    public UcxTransport() {
        this(UcxWaitStrategy.byDefault());
    }

    /**
     * @param waitStrategy what the event loops do while nothing happens
     */
    public UcxTransport(UcxWaitStrategy waitStrategy) {
        this.waitStrategy = Objects.requireNonNull(waitStrategy, "waitStrategy");
    }

    // ---------------------------------------------------------------------------------------- what the builder takes

    @Override
    public String name() {
        return "ucx";
    }

    /** Whether UCX can be used. */
    @Override
    public boolean available() {
        return Ucx.isAvailable();
    }

    /** Why UCX cannot be used, or {@code null} if it can. */
    @Override
    public Throwable unavailabilityCause() {
        return Ucx.unavailabilityCause();
    }

    @Override
    public io.vertx.core.spi.transport.Transport implementation() {
        return this;
    }

    // ------------------------------------------------------------------------------------------- what Vert.x calls

    /** Always true, lest Vert.x take NIO: without UCX the kernel's sockets serve. */
    @Override
    public boolean isAvailable() {
        return true;
    }

    /**
     * @param ioRatio not used
     * @throws UnsatisfiedLinkError if the transport cannot be used, see {@link Ucx#ensureUsable()}
     */
    @Override
    public EventLoopGroup eventLoopGroup(int type, int nThreads, ThreadFactory threadFactory, int ioRatio) {
        return new UcxEventLoopGroup(nThreads, threadFactory, waitStrategy);
    }

    /**
     * Not called: {@link #eventLoopGroup} makes loops that need none.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public IoHandlerFactory ioHandlerFactory() {
        throw new UnsupportedOperationException("UCX's event loops are made by eventLoopGroup");
    }

    @Override
    public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
        refuse(domainSocket);
        return UcxSocketChannel::new;
    }

    @Override
    public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
        refuse(domainSocket);
        return UcxServerSocketChannel::new;
    }

    private static void refuse(boolean domainSocket) {
        if (domainSocket) {
            throw new IllegalArgumentException("UCX has no Unix domain sockets; on one host it uses shared memory by"
                    + " itself, so use an address and a port");
        }
    }

    @Override
    public DatagramChannel datagramChannel() {
        return new UcxDatagramChannel();
    }

    @Override
    public DatagramChannel datagramChannel(InternetProtocolFamily family) {
        return new UcxDatagramChannel(family == InternetProtocolFamily.IPv6
                ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET);
    }

    /**
     * Options count as over epoll, and the time to live and the interface of multicast as over NIO. A host hears its own
     * multicast, as it does by default over both, whatever {@code loopbackModeDisabled} says.
     */
    @Override
    public void configure(DatagramChannel channel, DatagramSocketOptions options) {
        DatagramChannelConfig config = channel.config();
        config.setOption(UcxChannelOption.SO_REUSEPORT, options.isReusePort());
        io.vertx.core.spi.transport.Transport.super.configure(channel, options);
        if (options.getMulticastTimeToLive() != DatagramSocketOptions.DEFAULT_MULTICAST_TIME_TO_LIVE) {
            config.setTimeToLive(options.getMulticastTimeToLive());
        }
        if (options.getMulticastNetworkInterface() != null) {
            config.setNetworkInterface(networkInterface(options.getMulticastNetworkInterface()));
        }
    }

    private static NetworkInterface networkInterface(String name) {
        try {
            NetworkInterface found = NetworkInterface.getByName(name);
            if (found != null) {
                return found;
            }
        } catch (SocketException e) {
            throw new IllegalArgumentException("cannot look for the network interface " + name, e);
        }
        throw new IllegalArgumentException("there is no network interface " + name + " (multicastNetworkInterface)");
    }

    /** {@code tcpFastOpen}, {@code tcpCork} and {@code tcpQuickAck} have no effect. */
    @Override
    public void configure(ClientOptionsBase options, int connectTimeout, boolean domainSocket, Bootstrap bootstrap) {
        if (options.getTcpUserTimeout() > 0) {
            bootstrap.option(USER_TIMEOUT, options.getTcpUserTimeout());
        }
        io.vertx.core.spi.transport.Transport.super.configure(options, connectTimeout, domainSocket, bootstrap);
    }

    /** The same. {@code reusePort} counts as over epoll. */
    @Override
    public void configure(NetServerOptions options, boolean domainSocket, ServerBootstrap bootstrap) {
        bootstrap.option(UcxChannelOption.SO_REUSEPORT, options.isReusePort());
        if (options.getTcpUserTimeout() > 0) {
            bootstrap.childOption(USER_TIMEOUT, options.getTcpUserTimeout());
        }
        io.vertx.core.spi.transport.Transport.super.configure(options, domainSocket, bootstrap);
    }

    @Override
    public String toString() {
        return "UcxTransport{" + waitStrategy + '}';
    }
}
