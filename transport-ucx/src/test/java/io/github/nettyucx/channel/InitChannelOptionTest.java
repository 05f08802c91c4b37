// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.SocketChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What {@code initChannel} sets counts for the handshake of its channel, also for a client that says nothing. */
class InitChannelOptionTest {

    /** None of them is what holds if nothing is set. */
    private static final int MILLIS = 600;
    /** What a handshake has if nothing is set. */
    private static final int SOON_MILLIS = 10_000;

    private Peers peers;

    @BeforeEach
    void startLoops() {
        peers = new Peers();
    }

    @AfterEach
    void endLoops() {
        peers.close();
    }

    /** A server that greets whom it serves. */
    private UcxServerSocketChannel listen(Consumer<UcxSocketChannelConfig> options) throws Exception {
        return peers.listen(peers.server(Inbox::new).childHandler(new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                options.accept((UcxSocketChannelConfig) channel.config());
                channel.pipeline().addLast(new Inbox() {
                    @Override
                    public void channelActive(ChannelHandlerContext context) {
                        context.writeAndFlush(Unpooled.copiedBuffer("220 ready", StandardCharsets.ISO_8859_1));
                    }
                });
            }
        }));
    }

    @Test
    void whoWaitsForTheServerIsServed() throws Exception {
        UcxServerSocketChannel server = listen(config -> {
            config.setOption(UcxChannelOption.PLAIN_PEERS, UcxPlainPeers.ALL);
            config.setOption(UcxChannelOption.PLAIN_GRACE_MILLIS, MILLIS);
        });
        long start = System.nanoTime();
        try (RawPeer client = new RawPeer()) {
            client.connect(server.localAddress());
            assertEquals("220 ready", new String(client.hear(9), StandardCharsets.ISO_8859_1));
        }
        assertTook(start);
    }

    @Test
    void whoSaysNothingHasTheTimeThatWasSet() throws Exception {
        UcxServerSocketChannel server = listen(
                config -> config.setOption(UcxChannelOption.HANDSHAKE_TIMEOUT_MILLIS, MILLIS));
        long start = System.nanoTime();
        try (RawPeer client = new RawPeer()) {
            client.connect(server.localAddress());
            client.awaitEnd();
        }
        assertTook(start);
    }

    private static void assertTook(long start) {
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        assertTrue(millis >= MILLIS && millis < SOON_MILLIS, () -> "after " + millis + " ms");
    }
}
