// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.nio.channels.UnresolvedAddressException;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Servers that cannot be bound say why, and leave the loop as it was. */
@Timeout(60)
class BindFailureTest {

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    @Test
    void aPortOfAnotherServerIsInUse() throws Exception {
        Channel first = peers.listen(Inbox::new);
        assertInUse(first.localAddress());
        Peers.await(peers.connect(first, new Inbox()).close());
        Peers.await(first.close());
        // And free again.
        Channel second = Peers.await(peers.server(Inbox::new).bind(first.localAddress())).channel();
        Peers.await(peers.connect(second, new Inbox()).close());
    }

    @Test
    void aPortOfASocketIsInUse() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            assertInUse(socket.getLocalSocketAddress());
        }
    }

    @Test
    void aPortThatIsInUseForOneAddressIsInUseForTheWildcard() throws Exception {
        Channel first = peers.listen(Inbox::new);
        int port = ((InetSocketAddress) first.localAddress()).getPort();
        assertInUse(new InetSocketAddress(port));
    }

    private void assertInUse(SocketAddress address) throws InterruptedException {
        ChannelFuture bind = peers.server(Inbox::new).bind(address);
        Throwable failure = Peers.awaitFailure(bind);
        assertInstanceOf(BindException.class, failure);
        assertTrue(failure.getMessage().startsWith("Address already in use"), failure::toString);
        assertTrue(failure.getMessage().contains(":" + ((InetSocketAddress) address).getPort()), failure::toString);
        Peers.await(bind.channel().closeFuture());
    }

    @Test
    void anAddressOfAnotherHostCannotBeBound() throws Exception {
        // Of a network that is kept for documentation.
        ChannelFuture bind = peers.server(Inbox::new).bind(new InetSocketAddress(
                InetAddress.ofLiteral("198.51.100.1"), 0));
        Throwable failure = Peers.awaitFailure(bind);
        assertInstanceOf(BindException.class, failure);
        assertTrue(failure.getMessage().contains("it must be one of this host's"), failure::toString);
        assertTrue(failure.getMessage().contains("198.51.100.1"), failure::toString);
        Peers.await(bind.channel().closeFuture());
        assertServes();
    }

    @Test
    void anAddressHasToBeResolved() throws Exception {
        assertInstanceOf(UnresolvedAddressException.class, Peers.awaitFailure(
                peers.server(Inbox::new).bind(InetSocketAddress.createUnresolved("localhost", 0))));
        assertServes();
    }

    @Test
    void anAddressHasToBeOfTheInternet() throws Exception {
        Throwable failure = Peers.awaitFailure(peers.server(Inbox::new).bind(new SocketAddress() {
            @Override
            public String toString() {
                return "elsewhere";
            }
        }));
        assertInstanceOf(IllegalArgumentException.class, failure);
        assertTrue(failure.getMessage().contains("elsewhere"), failure::toString);
        assertTrue(failure.getMessage().contains("expected an InetSocketAddress"), failure::toString);
        assertServes();
    }

    @Test
    void aServerIsBoundOnce() throws Exception {
        Channel server = peers.listen(Inbox::new);
        SocketAddress bound = server.localAddress();
        Throwable failure = Peers.awaitFailure(server.bind(Peers.loopback(0)));
        assertInstanceOf(IllegalStateException.class, failure);
        assertTrue(failure.getMessage().contains("already bound to " + bound), failure::toString);
        assertEquals(bound, server.localAddress());
        assertTrue(server.isActive());
        Peers.await(peers.connect(server, new Inbox()).close());
    }

    @Test
    void aServerDoesNotConnect() throws Exception {
        Channel server = peers.listen(Inbox::new);
        Throwable failure = Peers.awaitFailure(server.connect(server.localAddress()));
        assertInstanceOf(UnsupportedOperationException.class, failure);
        assertTrue(server.isActive());
        Peers.await(peers.connect(server, new Inbox()).close());
    }

    private void assertServes() throws InterruptedException {
        Channel server = peers.listen(Inbox::new);
        Peers.await(peers.connect(server, new Inbox()).close());
        Peers.await(server.close());
    }
}
