// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.vertx;

import io.github.nettyucx.channel.UcxDatagramChannel;
import io.netty.channel.socket.InternetProtocolFamily;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.datagram.DatagramSocket;
import io.vertx.core.dns.AddressResolverOptions;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.SocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.util.concurrent.ExecutionException;

import static io.github.nettyucx.vertx.VertxOverUcx.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a Vert.x instance has from the transport beside connections. */
@Timeout(120)
class UcxTransportTest {

    @RegisterExtension
    final VertxOverUcx ucx = new VertxOverUcx();

    @Test
    void isNamedAndAvailable() {
        UcxTransport transport = new UcxTransport();
        assertEquals("ucx", transport.name());
        assertTrue(transport.available());
        assertNull(transport.unavailabilityCause());
        assertSame(transport, transport.implementation());
        assertTrue(ucx.vertx.isNativeTransportEnabled());
    }

    @Test
    void datagramsGoOverUdp() throws Exception {
        DatagramSocket echo = await(ucx.vertx.createDatagramSocket().listen(0, "127.0.0.1"));
        echo.handler(packet -> echo.send(packet.data(), packet.sender().port(), packet.sender().host()));
        Promise<String> answer = Promise.promise();
        DatagramSocket client = await(ucx.vertx.createDatagramSocket().listen(0, "127.0.0.1"));
        client.handler(packet -> answer.tryComplete(packet.data().toString()));
        client.send("hello", echo.localAddress().port(), "127.0.0.1");
        assertEquals("hello", await(answer.future()));
        await(client.close());
        await(echo.close());
    }

    @Test
    void datagramsOfBothFamilies() {
        UcxTransport transport = new UcxTransport();
        for (var channel : new io.netty.channel.Channel[] {transport.datagramChannel(),
            transport.datagramChannel(InternetProtocolFamily.IPv4),
            transport.datagramChannel(InternetProtocolFamily.IPv6)}) {
            assertSame(UcxDatagramChannel.class, channel.getClass());
            channel.unsafe().closeForcibly();
        }
    }

    @Test
    void namesAreAskedOfTheDns() throws Exception {
        try (NameServer names = new NameServer()) {
            Vertx vertx = VertxOverUcx.vertx(new VertxOptions().setAddressResolverOptions(
                    new AddressResolverOptions().addServer("127.0.0.1:" + names.port())));
            NetServer server = await(vertx.createNetServer().connectHandler(socket -> { }).listen(0, "127.0.0.1"));
            NetClient client = vertx.createNetClient();
            await(client.connect(server.actualPort(), "node7.cluster.example"));
            assertTrue(names.questions() > 0);
            await(client.close());
            await(vertx.close());
        }
    }

    @Test
    void orOfTheJdk() throws Exception {
        System.setProperty("vertx.disableDnsResolver", "true");
        try (NameServer names = new NameServer()) {
            Vertx vertx = VertxOverUcx.vertx(new VertxOptions().setAddressResolverOptions(
                    new AddressResolverOptions().addServer("127.0.0.1:" + names.port())));
            NetServer server = await(vertx.createNetServer().connectHandler(socket -> { }).listen(0, "127.0.0.1"));
            NetClient client = vertx.createNetClient();
            await(client.connect(server.actualPort(), "localhost"));
            assertEquals(0, names.questions());
            await(client.close());
            await(vertx.close());
        } finally {
            System.clearProperty("vertx.disableDnsResolver");
        }
    }

    @Test
    void domainSocketsAreRefused() {
        ExecutionException failure = assertThrows(ExecutionException.class, () -> await(
                ucx.client.connect(SocketAddress.domainSocketAddress("/tmp/none.sock"))));
        assertTrue(failure.getMessage().contains("UCX has no Unix domain sockets"), failure::toString);
        assertFalse(new UcxTransport().supportsDomainSockets());
    }

    @Test
    void closingEndsTheThreads() throws Exception {
        Vertx vertx = VertxOverUcx.vertx(new VertxOptions().setEventLoopPoolSize(1));
        Promise<Thread> thread = Promise.promise();
        vertx.runOnContext(nothing -> thread.complete(Thread.currentThread()));
        Thread loop = await(thread.future());
        assertTrue(loop.isAlive() && loop.getName().startsWith("vert.x-eventloop-thread"), loop::toString);
        await(vertx.close());
        loop.join(60_000);
        assertFalse(loop.isAlive());
    }
}
