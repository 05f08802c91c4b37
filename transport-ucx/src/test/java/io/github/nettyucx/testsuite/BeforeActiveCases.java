// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.util.NetUtil;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A channel that a server accepts is active when the handshake is over, or when it is known that there will be none: later
 * than one of Netty's other transports. What its handlers do until then must not be lost.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
abstract class BeforeActiveCases {

    private static final int CONNECTIONS = 30;
    private static final int TIMEOUT_SECONDS = 20;

    private final Pair pair;

    BeforeActiveCases(Pair pair) {
        this.pair = pair;
    }

    @BeforeEach
    void assumeOne() {
        assumeTrue(pair.hasUcxServer(), "the server is not of UCX");
    }

    /** For a client that is declined there is no other. {@code EarlyCloseTest} has both sides allow it beside a link. */
    private void assumeSocket() {
        assumeTrue(pair.allowsSocket(), "an early close takes lane socket, which these two do not allow");
    }

    @Test
    void whatIsFlushedIsSent() throws Exception {
        assertServerSays("hello", new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel child) {
                child.writeAndFlush(Unpooled.copiedBuffer("hello".getBytes()));
            }
        }, false);
    }

    @Test
    void whatIsFlushedIsSentBeforeTheChannelCloses() throws Exception {
        assumeSocket();
        assertServerSays("bye.", new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel child) {
                child.writeAndFlush(Unpooled.copiedBuffer("bye".getBytes()));
                child.close();
            }
        }, true);
    }

    @Test
    void closingIsNoReset() throws Exception {
        assumeSocket();
        assertServerSays(".", new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel child) {
                child.close();
            }
        }, true);
    }

    /** @param said the bytes, with a period for the end of the stream and an exclamation mark for an exception */
    private void assertServerSays(String said, ChannelInitializer<Channel> initializer, boolean closes)
            throws Exception {
        Channel server = pair.server().childHandler(initializer)
                .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        try {
            for (int i = 0; i < CONNECTIONS; i++) {
                BlockingQueue<String> heard = new LinkedBlockingQueue<>();
                Channel client = pair.client().handler(new Listener(heard))
                        .connect(server.localAddress()).sync().channel();
                StringBuilder all = new StringBuilder();
                while (all.length() < said.length()) {
                    all.append(heard.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                }
                assertEquals(said, all.toString());
                if (closes) {
                    client.closeFuture().sync();
                } else {
                    client.close().sync();
                }
            }
        } finally {
            server.close().sync();
        }
    }

    private static final class Listener extends SimpleChannelInboundHandler<ByteBuf> {

        private final BlockingQueue<String> heard;

        Listener(BlockingQueue<String> heard) {
            this.heard = heard;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
            byte[] copy = new byte[bytes.readableBytes()];
            bytes.readBytes(copy);
            heard.add(new String(copy));
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            heard.add(".");
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            heard.add("!" + cause);
        }
    }
}
