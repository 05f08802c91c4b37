// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;

import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * An application that knows nothing of an agent: a server and a client in one process, with the transport that the first
 * argument names. Prints what it has got of Netty, and how many messages came back.
 */
public final class EchoApplication {

    private static final int MESSAGES = 200;
    private static final int SECONDS = 30;

    private EchoApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        ApplicationTransport transport = ApplicationTransport.valueOf(arguments[0]);
        EventLoopGroup boss = transport.group(1);
        EventLoopGroup workers = transport.group(2);
        System.out.println("group " + boss.getClass().getName());
        ServerBootstrap server = new ServerBootstrap().group(boss, workers)
                .option(ChannelOption.SO_BACKLOG, 100)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext context, Object message) {
                                context.writeAndFlush(message);
                            }
                        });
                    }
                });
        transport.server(server);
        Channel listening = server.bind("127.0.0.1", 0).sync().channel();
        System.out.println("server " + listening.getClass().getSimpleName());

        CountDownLatch done = new CountDownLatch(1);
        Bootstrap client = new Bootstrap().group(workers).option(ChannelOption.TCP_NODELAY, true)
                .handler(new Counting(done));
        transport.client(client);
        Channel channel = client.connect("127.0.0.1", ((InetSocketAddress) listening.localAddress()).getPort()).sync()
                .channel();
        System.out.println("client " + channel.getClass().getSimpleName() + " on "
                + channel.eventLoop().getClass().getSimpleName());
        System.out.println(done.await(SECONDS, TimeUnit.SECONDS) ? "echoed " + MESSAGES : "TIMED OUT");
        transport.exercise(workers);
        channel.close().sync();
        listening.close().sync();
        workers.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        boss.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        System.out.println("ended " + (workers.terminationFuture().await(SECONDS, TimeUnit.SECONDS)
                && boss.terminationFuture().await(SECONDS, TimeUnit.SECONDS)
                && workers.awaitTermination(SECONDS, TimeUnit.SECONDS) && workers.isTerminated()));
    }

    /** Sends a number, and the next one when it comes back. */
    private static final class Counting extends SimpleChannelInboundHandler<ByteBuf> {

        private final CountDownLatch done;
        private int count;

        Counting(CountDownLatch done) {
            this.done = done;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            context.writeAndFlush(Unpooled.buffer().writeInt(count));
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            int number = message.readInt();
            if (number != count || message.isReadable()) {
                throw new IllegalStateException("expected " + count + ", got " + number);
            }
            count++;
            if (count == MESSAGES) {
                done.countDown();
            } else {
                context.writeAndFlush(Unpooled.buffer().writeInt(count));
            }
        }
    }
}
