// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DatagramPacket;
import org.junit.jupiter.api.AfterEach;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What the tests of datagrams begin with: two loops, channels on them, and handlers that note what comes. */
abstract class DatagramChannels {

    static final long SECONDS = 20;
    static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    final EventLoopGroup group = TestLoops.newGroup(2, UcxWaitStrategy.PARK);

    @AfterEach
    void end() {
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Notes what comes, and that it comes in the channel's own thread. */
    static class Mailbox extends SimpleChannelInboundHandler<DatagramPacket> {

        final BlockingQueue<String> letters = new LinkedBlockingQueue<>();

        @Override
        protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
            assertTrue(context.channel().eventLoop().inEventLoop());
            letters.add(text(packet.content()));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            letters.add(cause.toString());
        }

        String next() throws InterruptedException {
            String letter = letters.poll(SECONDS, TimeUnit.SECONDS);
            assertNotNull(letter, "nothing came");
            return letter;
        }
    }

    Bootstrap bootstrap(SimpleChannelInboundHandler<?> handler) {
        return new Bootstrap().group(group).channel(UcxDatagramChannel.class).handler(handler);
    }

    UcxDatagramChannel bind(SimpleChannelInboundHandler<?> handler) {
        return (UcxDatagramChannel) bootstrap(handler).bind(ANY_PORT).syncUninterruptibly().channel();
    }

    static String text(ByteBuf content) {
        return content.toString(StandardCharsets.UTF_8);
    }

    static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    static ChannelFuture send(UcxDatagramChannel from, String text, InetSocketAddress to) {
        return from.writeAndFlush(new DatagramPacket(bytes(text), to));
    }
}
