// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.AbstractEventExecutorGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A server whose connections go to a group that is given its loops when the server listens, as that of Vert.x is. */
public final class LateLoopsApplication {

    private static final long SECONDS = 15;

    private LateLoopsApplication() {
    }

    /** Of the loops that it has been given. */
    @SuppressWarnings("deprecation")
    private static final class LateGroup extends AbstractEventExecutorGroup implements EventLoopGroup {

        private volatile EventLoop loop;

        @Override
        public EventLoop next() {
            return loop;
        }

        @Override
        public Iterator<EventExecutor> iterator() {
            return loop == null ? List.<EventExecutor>of().iterator() : List.<EventExecutor>of(loop).iterator();
        }

        @Override
        public ChannelFuture register(Channel channel) {
            return loop.register(channel);
        }

        @Override
        public ChannelFuture register(ChannelPromise promise) {
            return loop.register(promise);
        }

        @Override
        public ChannelFuture register(Channel channel, ChannelPromise promise) {
            return loop.register(channel, promise);
        }

        @Override
        public boolean isShuttingDown() {
            return false;
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }

        @Override
        public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
            return terminationFuture();
        }

        @Override
        public Future<?> terminationFuture() {
            return ImmediateEventExecutor.INSTANCE.newSucceededFuture(null);
        }

        @Override
        public void shutdown() {
            // Its loops are others'.
        }
    }

    public static void main(String[] arguments) throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(2);
        LateGroup late = new LateGroup();
        LinkedBlockingQueue<String> answers = new LinkedBlockingQueue<>();
        Channel server = new ServerBootstrap().group(group.next(), late).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel child) {
                        child.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext context, Object message) {
                                context.writeAndFlush(message);
                            }
                        });
                        answers.add(child.getClass().getSimpleName() + " on the group's loop " + (child.eventLoop() == late.loop));
                    }
                }).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        late.loop = group.next();
        Channel client = new Bootstrap().group(group).channel(NioSocketChannel.class)
                .handler(new SimpleChannelInboundHandler<ByteBuf>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
                        answers.add(message.toString(StandardCharsets.US_ASCII));
                    }
                }).connect(server.localAddress()).sync().channel();
        client.writeAndFlush(Unpooled.copiedBuffer("late", StandardCharsets.US_ASCII)).sync();
        System.out.println(server.getClass().getSimpleName() + ", " + answers.poll(SECONDS, TimeUnit.SECONDS));
        System.out.println("answer " + answers.poll(SECONDS, TimeUnit.SECONDS));
        client.close().sync();
        server.close().sync();
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
    }
}
