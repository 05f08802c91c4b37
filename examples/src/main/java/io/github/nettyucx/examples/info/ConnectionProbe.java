// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.info;

import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.examples.Explanation;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Connects this process with itself, once over each kind of address that it has, and tells what carries the bytes. */
final class ConnectionProbe {
    private static final int CONNECT_TIMEOUT_MILLIS = 10_000;
    private static final long SHUTDOWN_SECONDS = 5;

    private ConnectionProbe() {
    }

    /** Returns whether all connections could be made. */
    static boolean addTo(Report report) {
        report.section("Lanes of a connection to this host");
        var all = true;
        var group = new UcxEventLoopGroup(1);
        try {
            for (var entry : addresses().entrySet()) {
                try {
                    report.fact(entry.getKey(), lanes(group, entry.getValue()));
                } catch (Exception e) {
                    all = false;
                    report.fact(entry.getKey(), "failed: " + Explanation.of(e));
                }
            }
        } finally {
            group.shutdownGracefully(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
        }
        return all;
    }

    /** One of each family on the loopback interface, and one of each on any other. */
    static Map<String, InetAddress> addresses() {
        var addresses = new LinkedHashMap<String, InetAddress>();
        try {
            for (var family : new Class<?>[] {Inet4Address.class, Inet6Address.class}) {
                var name = family == Inet4Address.class ? "IPv4" : "IPv6";
                for (var loopback : new boolean[] {true, false}) {
                    NetworkInterface.networkInterfaces()
                            .flatMap(NetworkInterface::inetAddresses)
                            // A peer elsewhere knows this host by others.
                            .filter(address -> family.isInstance(address) && !address.isLinkLocalAddress()
                                    && address.isLoopbackAddress() == loopback)
                            .findFirst()
                            .ifPresent(address -> addresses.put(
                                    name + (loopback ? ", loopback" : ", network"), address));
                }
            }
        } catch (SocketException e) {
            // A machine without network interfaces has no addresses either.
        }
        return addresses;
    }

    private static String lanes(EventLoopGroup group, InetAddress address) throws Exception {
        var server = new ServerBootstrap()
                .group(group)
                .channel(UcxServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter())
                .bind(new InetSocketAddress(address, 0)).sync().channel();
        try {
            var client = (UcxSocketChannel) new Bootstrap()
                    .group(group)
                    .channel(UcxSocketChannel.class)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS)
                    .handler(new ChannelInboundHandlerAdapter())
                    .connect(server.localAddress()).sync().channel();
            try {
                return client.lane() + ", of " + String.join(", ", client.transports());
            } finally {
                client.close().sync();
            }
        } finally {
            server.close().sync();
        }
    }
}
