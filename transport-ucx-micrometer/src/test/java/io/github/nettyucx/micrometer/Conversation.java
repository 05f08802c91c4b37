// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.micrometer;

import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** A server that echoes, and its clients. */
final class Conversation implements AutoCloseable {

    private static final long SECONDS = 15;

    final UcxEventLoopGroup servers = new UcxEventLoopGroup(1);
    final UcxEventLoopGroup clients = new UcxEventLoopGroup(1);
    private final Channel server;

    Conversation() throws InterruptedException {
        server = await(new ServerBootstrap().group(servers).channel(UcxServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter() {

                    @Override
                    public boolean isSharable() {
                        return true;
                    }

                    @Override
                    public void channelRead(ChannelHandlerContext context, Object message) {
                        context.writeAndFlush(message);
                    }
                }).bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0))).channel();
    }

    /** Connects, sends so many bytes, and waits for them to come back. */
    UcxSocketChannel exchange(int length) throws Exception {
        CompletableFuture<Void> back = new CompletableFuture<>();
        Channel client = await(new Bootstrap().group(clients).channel(UcxSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter() {

                    private int missing = length;

                    @Override
                    public void channelRead(ChannelHandlerContext context, Object message) {
                        ByteBuf buffer = (ByteBuf) message;
                        missing -= buffer.readableBytes();
                        buffer.release();
                        if (missing == 0) {
                            back.complete(null);
                        }
                    }
                }).connect(server.localAddress())).channel();
        client.writeAndFlush(Unpooled.directBuffer(length).writeZero(length));
        back.get(SECONDS, TimeUnit.SECONDS);
        return (UcxSocketChannel) client;
    }

    static <F extends Future<?>> F await(F future) throws InterruptedException {
        assertTrue(future.await(SECONDS, TimeUnit.SECONDS), () -> "not done within " + SECONDS + " s: " + future);
        if (!future.isSuccess()) {
            throw new AssertionError(future.toString(), future.cause());
        }
        return future;
    }

    @Override
    public void close() throws InterruptedException {
        await(clients.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS));
        await(servers.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS));
    }
}
