// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Something between the two sides forwards the socket's bytes: no other lane goes past it, unless both allow it. */
class TranslatedAddressTest {

    private Peers peers;
    private Forwarder forwarder;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() throws IOException {
        peers.close();
        if (forwarder != null) {
            forwarder.close();
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    /** Connects by way of the forwarder. */
    private UcxSocketChannel connect(String lanes, boolean server, boolean client) throws Exception {
        ServerBootstrap serving = peers.server(Echo::new).childOption(UcxChannelOption.LANES, lanes);
        Bootstrap connecting = peers.client(new Inbox());
        if (server) {
            serving.childOption(UcxChannelOption.TRANSLATED_ADDRESSES, true);
        }
        if (client) {
            connecting.option(UcxChannelOption.TRANSLATED_ADDRESSES, true);
        }
        forwarder = new Forwarder(peers.listen(serving).localAddress());
        Inbox inbox = new Inbox();
        UcxSocketChannel channel = (UcxSocketChannel) Peers.await(
                connecting.handler(inbox).connect(forwarder.address())).channel();
        Peers.await(channel.writeAndFlush(Unpooled.copiedBuffer("there", StandardCharsets.ISO_8859_1)));
        inbox.awaitText("there");
        return channel;
    }

    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "false, true"})
    void theSocketIsWhatIsLeft(boolean server, boolean client) throws Exception {
        UcxSocketChannel channel = connect("shm,rdma,socket", server, client);
        assertEquals("socket", channel.lane());
        Peers.await(channel.close());
    }

    @Test
    void itIsLeftWhereBothSidesAllowIt() throws Exception {
        UcxSocketChannel channel = connect("shm,rdma,socket", true, true);
        assertTrue(Lane.SHM.has(channel.lane()), channel::lane);
        Peers.await(channel.close());
    }

    @Test
    void whereTheSocketIsNotAllowedTheReasonIsTold() throws Exception {
        UcxServerSocketChannel server = peers.listen(peers.server(Echo::new)
                .childOption(UcxChannelOption.LANES, "shm"));
        forwarder = new Forwarder(server.localAddress());
        String message = Peers.awaitFailure(peers.client(new Inbox()).connect(forwarder.address())).getMessage();
        assertTrue(message.contains("shm: the two sides see different addresses: the server has 127.0.0.1:"
                + server.localAddress().getPort() + " and 127.0.0.1:"), message);
        assertTrue(message.contains("and 127.0.0.1:" + forwarder.address().getPort()), message);
    }
}
