// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.OwnProcess;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.SeededBytes;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** A program that reads the stream of {@link StreamSender}s when it is told to, and checks every byte. */
final class ReaderMain {

    private static final AtomicLong RECEIVED = new AtomicLong();
    private static final Queue<Channel> CHANNELS = new ConcurrentLinkedQueue<>();

    private ReaderMain() {
    }

    /** @param arguments whether it reads from the start */
    public static void main(String[] arguments) throws Exception {
        boolean reading = Boolean.parseBoolean(arguments[0]);
        InetSocketAddress address = (InetSocketAddress) new ServerBootstrap().group(TestLoops.newGroup(1))
                .channel(UcxServerSocketChannel.class).childOption(ChannelOption.AUTO_READ, reading)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        CHANNELS.add(channel);
                        channel.pipeline().addLast(new Checking());
                    }
                }).bind(Peers.loopback(0)).sync().channel().localAddress();
        Child.say("port " + address.getPort());
        for (;;) {
            switch (Child.nextCommand()) {
                case "read" -> CHANNELS.forEach(channel -> channel.config().setAutoRead(true));
                case "received" -> Child.say("received " + RECEIVED.get());
                case "memory" -> Child.say("memory " + OwnProcess.resident() + ' ' + direct());
                default -> throw new IllegalArgumentException("unknown command");
            }
        }
    }

    private static long direct() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct")).mapToLong(BufferPoolMXBean::getMemoryUsed).sum();
    }

    private static final class Checking extends ChannelInboundHandlerAdapter {

        private final SeededBytes bytes = new SeededBytes(StreamSender.SEED);
        private long position;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            int length = buffer.readableBytes();
            try {
                bytes.check(position, buffer);
            } catch (AssertionError e) {
                Child.say("wrong " + e.getMessage());
            } finally {
                buffer.release();
            }
            position += length;
            RECEIVED.addAndGet(length);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            System.out.println(cause);
        }
    }
}
