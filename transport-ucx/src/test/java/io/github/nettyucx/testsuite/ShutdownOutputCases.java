// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.util.NetUtil;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Ending the output while there is more to send than the peer has room for. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
abstract class ShutdownOutputCases {

    /** More than the kernel's buffers of both sides hold. */
    private static final int BYTES = 32 * 1024 * 1024;

    private final Pair pair;

    ShutdownOutputCases(Pair pair) {
        this.pair = pair;
    }

    @BeforeEach
    void assumeOne() {
        assumeTrue(pair.hasUcxClient(), "the client is not of UCX");
    }

    @Test
    void everythingFlushedArrivesHoweverOftenTheOutputIsShutDown() throws Exception {
        CompletableFuture<Channel> accepted = new CompletableFuture<>();
        CompletableFuture<Integer> received = new CompletableFuture<>();
        Channel server = pair.server()
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.AUTO_READ, false)
                .childHandler(new Counter(accepted, received))
                .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).sync().channel();
        UcxSocketChannel client = (UcxSocketChannel) pair.client().handler(new ChannelInboundHandlerAdapter())
                .connect(server.localAddress()).sync().channel();
        try {
            ChannelFuture written = client.writeAndFlush(Unpooled.directBuffer(BYTES).writeZero(BYTES));
            ChannelFuture first = client.shutdownOutput();
            ChannelFuture second = client.shutdownOutput();
            ChannelFuture late = client.writeAndFlush(Unpooled.directBuffer(1).writeZero(1)).await();
            assertInstanceOf(ChannelOutputShutdownException.class, late.cause());
            assertFalse(first.isDone());
            assertFalse(second.isDone());

            accepted.get().config().setAutoRead(true);
            assertEquals(BYTES, received.get());
            written.sync();
            first.sync();
            second.sync();
        } finally {
            client.close().sync();
            server.close().sync();
        }
    }

    private static final class Counter extends SimpleChannelInboundHandler<ByteBuf> {

        private final CompletableFuture<Channel> accepted;
        private final CompletableFuture<Integer> received;
        private int bytes;

        Counter(CompletableFuture<Channel> accepted, CompletableFuture<Integer> received) {
            this.accepted = accepted;
            this.received = received;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            accepted.complete(context.channel());
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            bytes += message.readableBytes();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event == ChannelInputShutdownEvent.INSTANCE) {
                received.complete(bytes);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            received.completeExceptionally(cause);
        }
    }
}
