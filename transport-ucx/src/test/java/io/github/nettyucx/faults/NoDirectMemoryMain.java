// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryRight;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A program that uses up its direct memory, says what becomes of its connections, gives it back and goes on. */
final class NoDirectMemoryMain {

    private static final long SECONDS = 15;
    private static final int LARGEST = 1024 * 1024;
    private static final int STEP = 1024;
    /** For the requests of one side of a connection, and not for those of two. */
    private static final int ONE_SIDE = 18 * 1024;
    private static final UnpooledByteBufAllocator UNPOOLED = new UnpooledByteBufAllocator(true, true);

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
        EventLoopGroup owners = TestLoops.newGroup(1);
        BlockingQueue<Throwable> ownerTold = new LinkedBlockingQueue<>();
        UcxMemory memory = UcxMemory.allocateChecked(4096, UcxMemoryRight.values());
        Bootstrap asker = bootstrap.clone().remoteAddress(listen(owners, ownerTold).localAddress());
        UcxSocketChannel asking = (UcxSocketChannel) Peers.await(asker.connect()).channel();
        List<ByteBuf> hog = new ArrayList<>();
        // On the loop's thread, whose part of the pool it is.
        group.submit(() -> takeAll(PooledByteBufAllocator.DEFAULT, hog)).get();
        ByteBuf oneSide = UNPOOLED.directBuffer(ONE_SIDE, ONE_SIDE);
        takeAll(UNPOOLED, hog);

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

        oneSide.release();
        Future<?> opened = asking.openMemory(memory.exportKey());
        if (Lane.current().isLink()) {
            Throwable told = ownerTold.poll(SECONDS, TimeUnit.SECONDS);
            Child.say("owner " + (told == null ? "not told" : told.getMessage().replace('\n', ' ')));
        } else {
            Child.say("owner has no such peers");
        }
        Child.say("asker " + failure(opened));

        group.submit(() -> hog.forEach(ByteBuf::release)).get();
        // The owner's loop has lived through that.
        UcxSocketChannel again = (UcxSocketChannel) Peers.await(asker.connect()).channel();
        Child.say("again " + failure(again.openMemory(memory.exportKey())));
        Peers.await(bootstrap.connect()).channel().writeAndFlush(Unpooled.wrappedBuffer(new byte[100]));
        Child.say(answered.await(SECONDS, TimeUnit.SECONDS) ? "recovered" : "mute");
        Child.nextCommand();
    }

    private static Channel listen(EventLoopGroup group, BlockingQueue<Throwable> told) throws InterruptedException {
        return Peers.await(new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                                told.add(cause);
                            }
                        });
                    }
                }).bind(Peers.loopback(0))).channel();
    }

    private static void takeAll(ByteBufAllocator allocator, List<ByteBuf> hog) {
        // In a few steps: the JDK looks for memory for half a second before it says that there is none.
        for (int size = LARGEST; size > 0; size /= STEP) {
            try {
                for (;;) {
                    hog.add(allocator.directBuffer(size, size));
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
