// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** Connections outlive their server, and whatever others are started on its port. */
class RestartedServerTest {

    private static final int HANDSHAKE_TIMEOUT_MILLIS = 200;
    private static final int STRANGERS = 3;

    private final Inbox inbox = new Inbox();
    private Peers peers;
    private UcxSocketChannel client;
    private String sent = "";

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    @OnEachLane
    void connectionsGoOnWhenAnotherServerHasTheirPort() throws Exception {
        assertGoesOn(Peers.loopback(0));
    }

    @OnEachLane
    void connectionsToAWildcardAddressGoOnWhenAnotherServerHasTheirPort() throws Exception {
        assertGoesOn(new InetSocketAddress(0));
    }

    private void assertGoesOn(InetSocketAddress bindTo) throws Exception {
        Channel first = Peers.await(peers.server(Echo::new).bind(bindTo)).channel();
        // Not the first connection's: UCX is started for that, which a busy machine takes long for.
        ServerBootstrap bootstrap = peers.server(Echo::new)
                .childOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, HANDSHAKE_TIMEOUT_MILLIS);
        InetSocketAddress address = Peers.loopback(((InetSocketAddress) first.localAddress()).getPort());
        client = (UcxSocketChannel) Peers.await(peers.client(inbox).connect(address)).channel();
        assertEchoes("a");
        Peers.await(first.close());
        assertEchoes("b");
        for (int i = 0; i < 2; i++) {
            Channel next = Peers.await(bootstrap.bind(address)).channel();
            for (int j = 0; j < STRANGERS; j++) {
                awaitThatAStrangerIsTurnedAway(address);
                assertEchoes("c");
            }
            Peers.await(next.close());
            assertEchoes("d");
        }
        Peers.await(client.close());
    }

    private static void awaitThatAStrangerIsTurnedAway(InetSocketAddress address) throws Exception {
        try (RawPeer stranger = new RawPeer()) {
            stranger.connect(address);
            stranger.awaitEnd();
        }
    }

    private void assertEchoes(String text) throws Exception {
        sent += text;
        Peers.await(client.writeAndFlush(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1)));
        inbox.awaitText(sent);
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }
}
