// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.vertx;

import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DatagramChannel;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetServerOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.BindException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.Map;
import java.util.concurrent.ExecutionException;

import static io.github.nettyucx.vertx.VertxOverUcx.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Options of Vert.x that are each transport's own matter. */
@Timeout(120)
class OptionsTest {

    private static final String ANY_USER_TIMEOUT = "TCP_USER_TIMEOUT";

    @RegisterExtension
    final VertxOverUcx ucx = new VertxOverUcx();

    private NetServer listen(Vertx vertx, boolean reusePort, int port) throws Exception {
        return await(vertx.createNetServer(new NetServerOptions().setReusePort(reusePort))
                .connectHandler(socket -> { }).listen(port, "127.0.0.1"));
    }

    @Test
    void twoServersHaveOnePortWhereBothReuseIt() throws Exception {
        // Within an instance of Vert.x servers share a port by themselves.
        Vertx other = VertxOverUcx.vertx(new VertxOptions().setEventLoopPoolSize(1));
        Vertx third = VertxOverUcx.vertx(new VertxOptions().setEventLoopPoolSize(1));
        NetServer first = listen(ucx.vertx, true, 0);
        assertEquals(first.actualPort(), listen(other, true, first.actualPort()).actualPort());
        ExecutionException refused = assertThrows(ExecutionException.class, () -> listen(third, false, first.actualPort()));
        assertInstanceOf(BindException.class, refused.getCause());
        await(third.close());
        await(other.close());
    }

    @Test
    void twoDatagramSocketsHaveOnePortWhereBothReuseIt() throws Exception {
        var reusing = new DatagramSocketOptions().setReusePort(true);
        var first = await(ucx.vertx.createDatagramSocket(reusing).listen(0, "127.0.0.1"));
        int port = first.localAddress().port();
        var second = await(ucx.vertx.createDatagramSocket(reusing).listen(port, "127.0.0.1"));
        assertEquals(port, second.localAddress().port());
        assertThrows(ExecutionException.class,
                () -> await(ucx.vertx.createDatagramSocket().listen(port, "127.0.0.1")));
        await(first.close());
        await(second.close());
    }

    private static void withDatagramChannel(DatagramSocketOptions options, Checked<DatagramChannel> check) throws Exception {
        UcxTransport transport = new UcxTransport();
        DatagramChannel channel = transport.datagramChannel();
        try {
            transport.configure(channel, options);
            check.accept(channel);
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    private interface Checked<T> {
        void accept(T value) throws Exception;
    }

    @Test
    void optionsOfMulticastCount() throws Exception {
        NetworkInterface loopback = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
        withDatagramChannel(new DatagramSocketOptions().setMulticastTimeToLive(7)
                .setMulticastNetworkInterface(loopback.getName()), channel -> {
                    assertEquals(7, channel.config().getTimeToLive());
                    assertEquals(loopback, channel.config().getNetworkInterface());
                });
    }

    /** Vert.x says that it is switched off by default, and Netty's NIO, which takes that for the contrary, leaves it on. */
    @Test
    void aHostHearsItsOwnMulticast() throws Exception {
        withDatagramChannel(new DatagramSocketOptions(), channel -> assertFalse(channel.config().isLoopbackModeDisabled()));
    }

    @Test
    void anInterfaceThatIsNotThereIsRefused() throws Exception {
        var none = new DatagramSocketOptions().setMulticastNetworkInterface("none0");
        UcxTransport transport = new UcxTransport();
        DatagramChannel channel = transport.datagramChannel();
        var refused = assertThrows(IllegalArgumentException.class, () -> transport.configure(channel, none));
        assertTrue(refused.getMessage().contains("there is no network interface none0"), refused::getMessage);
        channel.unsafe().closeForcibly();
    }

    /** @return {@code null} if there is none; what is there the transport's channels know */
    @SuppressWarnings("unchecked")
    private static Object userTimeout(Map<ChannelOption<?>, Object> options) {
        for (var option : options.entrySet()) {
            if (option.getKey().name().endsWith(ANY_USER_TIMEOUT)) {
                var channel = new UcxSocketChannel();
                assertTrue(channel.config().setOption((ChannelOption<Object>) option.getKey(), option.getValue()));
                channel.unsafe().closeForcibly();
                return option.getValue();
            }
        }
        return null;
    }

    @Test
    void theUserTimeoutIsPassedOnIfThereIsOne() {
        UcxTransport transport = new UcxTransport();
        var client = new Bootstrap();
        transport.configure(new NetClientOptions().setTcpUserTimeout(1234), 1000, false, client);
        assertEquals(1234, userTimeout(client.config().options()));
        var server = new ServerBootstrap();
        transport.configure(new NetServerOptions().setTcpUserTimeout(4321), false, server);
        assertEquals(4321, userTimeout(server.config().childOptions()));
        var without = new Bootstrap();
        transport.configure(new NetClientOptions(), 1000, false, without);
        assertNull(userTimeout(without.config().options()));
    }
}
