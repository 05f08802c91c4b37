// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A program that uses up its direct memory, says what becomes of its connections, gives it back and goes on. */
final class NoDirectMemoryMain {

    private static final long SECONDS = 15;
    private static final int LARGEST = 1024 * 1024;

    private NoDirectMemoryMain() {
    }

    /** @param arguments the port of an echo */
    public static void main(String[] arguments) throws Exception {
        EventLoopGroup group = TestLoops.newGroup(1);
        CountDownLatch answered = new CountDownLatch(1);
        Bootstrap bootstrap = new Bootstrap().group(group).channel(UcxSocketChannel.class)
                .option(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .remoteAddress(Peers.loopback(Integer.parseInt(arguments[0])))
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Answer(answered));
                    }
                });
        Channel writing = Peers.await(bootstrap.connect()).channel();
        Channel closing = Peers.await(bootstrap.connect()).channel();
        List<ByteBuf> hog = new ArrayList<>();
        // On the loop's thread, whose part of the pool it is.
        group.submit(() -> takeAll(hog)).get();

        // A heap buffer needs a direct one to be sent from.
        Child.say("write " + failure(writing.writeAndFlush(Unpooled.wrappedBuffer(new byte[100]))));
        Child.say("connect " + failure(bootstrap.connect()));
        closing.eventLoop().execute(() -> {
            closing.write(Unpooled.wrappedBuffer(new byte[100]));
            closing.write(Unpooled.wrappedBuffer(new byte[100_000]));
            closing.flush();
            closing.close();
        });
        Child.say("close " + (closing.closeFuture().await(SECONDS, TimeUnit.SECONDS) ? "done" : "hangs"));

        group.submit(() -> hog.forEach(ByteBuf::release)).get();
        Peers.await(bootstrap.connect()).channel().writeAndFlush(Unpooled.wrappedBuffer(new byte[100]));
        Child.say(answered.await(SECONDS, TimeUnit.SECONDS) ? "recovered" : "mute");
        Child.nextCommand();
    }

    private static void takeAll(List<ByteBuf> hog) {
        for (int size = LARGEST; size > 0; size /= 2) {
            try {
                for (;;) {
                    hog.add(PooledByteBufAllocator.DEFAULT.directBuffer(size, size));
                }
            } catch (OutOfMemoryError e) {
                // Smaller ones may still fit.
                continue;
            }
        }
    }

    private static String failure(Future<?> future) throws InterruptedException {
        if (!future.await(SECONDS, TimeUnit.SECONDS)) {
            return "pending";
        }
        StringBuilder causes = new StringBuilder();
        for (Throwable cause = future.cause(); cause != null; cause = cause.getCause()) {
            causes.append(causes.isEmpty() ? "" : " <- ").append(cause.getClass().getSimpleName()).append(": ")
                    .append(cause.getMessage());
        }
        return causes.isEmpty() ? "success" : causes.toString().replace('\n', ' ');
    }

    private static final class Answer extends ChannelInboundHandlerAdapter {

        private final CountDownLatch answered;

        Answer(CountDownLatch answered) {
            this.answered = answered;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ((ByteBuf) message).release();
            answered.countDown();
        }
    }
}
