// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.AlreadyBoundException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Connections over addresses of every kind, and what the channels say of theirs. */
class AddressTest {

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    @OnEachLane
    void ipv4() throws Exception {
        assertConnects(InetAddress.ofLiteral("127.0.0.1"));
    }

    @OnEachLane
    void ipv6() throws Exception {
        assumeTrue(hasIpv6Loopback(), "the host has no IPv6");
        assertConnects(InetAddress.ofLiteral("::1"));
    }

    @OnEachLane
    void ipv6WithTheScopeOfAnInterface() throws Exception {
        assumeTrue(hasIpv6Loopback(), "the host has no IPv6");
        NetworkInterface loopback = NetworkInterface.getByInetAddress(InetAddress.ofLiteral("::1"));
        assertConnects(Inet6Address.getByAddress(null, InetAddress.ofLiteral("::1").getAddress(), loopback));
    }

    @OnEachLane
    void aWildcardServerIsReachedOverIpv4() throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = bindWildcard(child);
        assertExchange(server, new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port(server)), child);
    }

    @OnEachLane
    void aWildcardServerIsReachedOverIpv6() throws Exception {
        assumeTrue(hasIpv6Loopback(), "the host has no IPv6");
        Inbox child = new Inbox();
        UcxServerSocketChannel server = bindWildcard(child);
        assertExchange(server, new InetSocketAddress(InetAddress.ofLiteral("::1"), port(server)), child);
    }

    @OnEachLane
    void aWildcardServerOfIpv4AloneIsReachedOverIpv4() throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = bindWildcardOfIpv4(child);
        assertEquals(new InetSocketAddress("0.0.0.0", port(server)), server.localAddress());
        assertExchange(server, new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port(server)), child);
    }

    @OnEachLane
    void aWildcardServerOfIpv4AloneIsNotReachedOverIpv6() throws Exception {
        assumeTrue(hasIpv6Loopback(), "the host has no IPv6");
        int port = port(bindWildcardOfIpv4(new Inbox()));
        ChannelFuture connected = peers.client(new Inbox()).connect(new InetSocketAddress(InetAddress.ofLiteral("::1"), port));
        assertTrue(connected.await(10, TimeUnit.SECONDS), "no end");
        assertInstanceOf(ConnectException.class, connected.cause());
    }

    @OnEachLane
    void aClientConnectsFromTheAddressThatItIsToldTo() throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = peers.listen(() -> child);
        InetAddress from = InetAddress.ofLiteral("127.0.0.1");
        UcxSocketChannel client = (UcxSocketChannel) Peers.await(peers.client(new Inbox())
                .connect(server.localAddress(), new InetSocketAddress(from, 0))).channel();
        assertEquals(from, client.localAddress().getAddress());
        assertEquals(client.localAddress(), child.awaitActive().remoteAddress());
    }

    @OnEachLane
    void anAcceptedChannelTellsItsOwnAddressFromTheBeginning() throws Exception {
        CompletableFuture<SocketAddress> early = new CompletableFuture<>();
        Inbox child = new Inbox() {
            @Override
            public void channelRegistered(ChannelHandlerContext context) {
                early.complete(context.channel().localAddress());
            }
        };
        UcxServerSocketChannel server = bindWildcard(child);
        int port = port(server);
        Channel client = Peers.await(peers.client(new Inbox()).connect(Peers.loopback(port))).channel();
        UcxSocketChannel accepted = child.awaitActive();
        assertEquals(Peers.loopback(port), early.get());
        assertEquals(Peers.loopback(port), accepted.localAddress());
        assertTrue(accepted.toString().contains("L:/127.0.0.1:" + port), accepted::toString);
        Peers.await(client.close());
        Peers.await(accepted.closeFuture());
        assertEquals(Peers.loopback(port), accepted.localAddress(), "after the close");
        assertEquals(client.localAddress(), accepted.remoteAddress(), "after the close");
    }

    @OnEachLane
    void aClientThatIsBoundToAnyPortTellsAtOnceWhichOneItHas() throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = peers.listen(() -> child);
        Channel client = Peers.await(peers.client(new Inbox()).register()).channel();
        Peers.await(client.bind(Peers.loopback(0)));
        SocketAddress bound = client.localAddress();
        assertNotEquals(Peers.loopback(0), bound);
        Peers.await(client.connect(server.localAddress()));
        assertEquals(bound, client.localAddress());
        assertEquals(child.awaitActive().remoteAddress(), client.localAddress());
        assertEquals(server.localAddress(), client.remoteAddress());
    }

    @OnEachLane
    void aClientKnowsItsServerByTheNameThatItHasConnectedTo() throws Exception {
        UcxServerSocketChannel server = peers.listen(Inbox::new);
        InetAddress named = InetAddress.getByAddress("server.example", new byte[]{127, 0, 0, 1});
        UcxSocketChannel client = (UcxSocketChannel) Peers.await(peers.client(new Inbox())
                .connect(new InetSocketAddress(named, port(server)))).channel();
        assertEquals("server.example", client.remoteAddress().getHostString());
        assertEquals(server.localAddress(), client.remoteAddress());
    }

    @OnEachLane
    void aChannelThatIsConnectedIsNotBoundAgain() throws Exception {
        Inbox child = new Inbox();
        UcxSocketChannel client = peers.connect(peers.listen(() -> child), new Inbox());
        UcxSocketChannel accepted = child.awaitActive();
        for (UcxSocketChannel side : List.of(client, accepted)) {
            InetSocketAddress before = side.localAddress();
            assertInstanceOf(AlreadyBoundException.class, Peers.awaitFailure(side.bind(Peers.loopback(0))));
            assertEquals(before, side.localAddress());
        }
        Peers.await(client.writeAndFlush(Unpooled.copiedBuffer("still there", StandardCharsets.ISO_8859_1)));
        child.awaitText("still there");
        Peers.await(client.close());
        child.awaitInactive();
        assertEquals(List.of(), child.exceptions());
    }

    @OnEachLane
    void aChannelIsBoundOnce() throws Exception {
        Channel client = Peers.await(peers.client(new Inbox()).register()).channel();
        Peers.await(client.bind(Peers.loopback(0)));
        SocketAddress bound = client.localAddress();
        assertInstanceOf(AlreadyBoundException.class, Peers.awaitFailure(client.bind(Peers.loopback(0))));
        assertEquals(bound, client.localAddress());
        Inbox child = new Inbox();
        Peers.await(client.connect(peers.listen(() -> child).localAddress()));
        assertEquals(bound, child.awaitActive().remoteAddress());
    }

    private static boolean hasIpv6Loopback() throws Exception {
        return NetworkInterface.getByInetAddress(InetAddress.ofLiteral("::1")) != null;
    }

    private UcxServerSocketChannel bindWildcard(Inbox child) throws Exception {
        return (UcxServerSocketChannel) Peers.await(peers.server(() -> child).bind(new InetSocketAddress(0))).channel();
    }

    /** It may be asked for by the wildcard of either family. */
    private UcxServerSocketChannel bindWildcardOfIpv4(Inbox child) throws Exception {
        ServerBootstrap bootstrap = peers.server(() -> child);
        bootstrap = new ServerBootstrap().group(bootstrap.config().group(), bootstrap.config().childGroup())
                .channelFactory(() -> new UcxServerSocketChannel(StandardProtocolFamily.INET))
                .childHandler(bootstrap.config().childHandler());
        return (UcxServerSocketChannel) Peers.await(bootstrap.bind(new InetSocketAddress("::", 0))).channel();
    }

    private static int port(UcxServerSocketChannel server) {
        return server.localAddress().getPort();
    }

    private void assertConnects(InetAddress address) throws Exception {
        Inbox child = new Inbox();
        UcxServerSocketChannel server = (UcxServerSocketChannel) Peers.await(
                peers.server(() -> child).bind(new InetSocketAddress(address, 0))).channel();
        assertEquals(address, server.localAddress().getAddress());
        assertNull(server.remoteAddress());
        assertExchange(server, server.localAddress(), child);
    }

    private void assertExchange(UcxServerSocketChannel server, InetSocketAddress target, Inbox child)
            throws Exception {
        Inbox inbox = new Inbox();
        UcxSocketChannel client = (UcxSocketChannel) Peers.await(peers.client(inbox).connect(target)).channel();
        UcxSocketChannel accepted = child.awaitActive();
        assertEquals(server, accepted.parent());
        assertEquals(target, client.remoteAddress());
        assertEquals(target.getAddress(), client.localAddress().getAddress());
        assertEquals(client.remoteAddress(), accepted.localAddress());
        assertEquals(client.localAddress(), accepted.remoteAddress());
        Peers.await(client.writeAndFlush(Unpooled.copiedBuffer("up", StandardCharsets.ISO_8859_1)));
        Peers.await(accepted.writeAndFlush(Unpooled.copiedBuffer("down", StandardCharsets.ISO_8859_1)));
        child.awaitText("up");
        inbox.awaitText("down");
        assertTrue(Lane.current().has(client.lane()), () -> "used lane " + client.lane());
        assertTrue(Lane.current().has(accepted.lane()), () -> "used lane " + accepted.lane());
        for (UcxSocketChannel side : new UcxSocketChannel[] {client, accepted}) {
            assertTrue(side.transports().stream().anyMatch(transport -> transport.equals(side.lane())
                            || transport.startsWith(side.lane() + '/')),
                    () -> side.lane() + " is not one of " + side.transports());
        }
    }
}
