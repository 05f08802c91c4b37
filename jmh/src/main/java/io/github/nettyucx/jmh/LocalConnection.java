// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.jmh;

import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A connection within this process, with an event loop on each side; the accepting side counts bytes. */
final class LocalConnection implements AutoCloseable {

    final Channel client;
    final Channel server;
    private final EventLoopGroup group = new UcxEventLoopGroup(2);
    private final AtomicLong received = new AtomicLong();

    LocalConnection() throws Exception {
        CompletableFuture<Channel> accepted = new CompletableFuture<>();
        Channel listener = new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                .childHandler(new Count(accepted))
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        client = new Bootstrap().group(group).channel(UcxSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter())
                .connect(listener.localAddress()).sync().channel();
        server = accepted.get(10, TimeUnit.SECONDS);
    }

    /** Writes messages on the client's event loop; returns when all are flushed. */
    void write(ByteBuf message, int count, int batch) throws InterruptedException {
        write(client, message, count, batch);
    }

    static void write(Channel client, ByteBuf message, int count, int batch) throws InterruptedException {
        client.eventLoop().submit(() -> {
            for (int i = 0; i < count; i++) {
                client.write(message.retainedDuplicate(), client.voidPromise());
                if ((i + 1) % batch == 0) {
                    client.flush();
                }
            }
            client.flush();
        }).sync();
    }

    /** Waits until the server has so many bytes, all in all. */
    void awaitReceived(long bytes) {
        while (received.get() < bytes) {
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private final class Count extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Channel> accepted;

        private Count(CompletableFuture<Channel> accepted) {
            this.accepted = accepted;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            accepted.complete(context.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            received.lazySet(received.getPlain() + buffer.readableBytes());
            buffer.release();
        }
    }
}
