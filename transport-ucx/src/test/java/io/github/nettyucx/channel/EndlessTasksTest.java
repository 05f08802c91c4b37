// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.EventExecutor;
import org.junit.jupiter.api.Tag;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tasks that never end leave input and output its part of the loop's time. */
@Tag("ucx-matrix")
class EndlessTasksTest {

    private static final int SIZE = 64 * 1024;
    private static final int MESSAGES = 512;
    private static final long TASK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /**
     * Without a share of the time 2,000 are needed over sockets, 16,000 over shared memory, and 32,000 over UCX's TCP. Some 100
     * are on an idle machine. Loops of Netty 4.2 run tasks for a second before their first turn.
     */
    private static final int MOST_TASKS = 1500;

    private final CompletableFuture<Integer> tasksMeanwhile = new CompletableFuture<>();

    @OnEachLane
    void aStreamGoesOnBetweenThem() throws Exception {
        try (Peers peers = new Peers()) {
            UcxServerSocketChannel server = peers.listen(Reader::new);
            Channel client = peers.connect(server, new Writer());
            int tasks = tasksMeanwhile.get(60, TimeUnit.SECONDS);
            assertTrue(tasks <= MOST_TASKS, () -> MESSAGES + " messages took " + tasks + " tasks");
            Peers.await(client.close());
        }
    }

    private final class Reader extends ChannelInboundHandlerAdapter {

        private EventExecutor loop;
        private int tasks;
        private long missing = (long) MESSAGES * SIZE;

        @Override
        public void channelActive(ChannelHandlerContext context) {
            loop = context.executor();
            loop.execute(this::task);
        }

        private void task() {
            long start = System.nanoTime();
            while (System.nanoTime() - start < TASK_NANOS) {
                Thread.onSpinWait();
            }
            tasks++;
            if (!tasksMeanwhile.isDone()) {
                loop.execute(this::task);
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            missing -= buffer.readableBytes();
            buffer.release();
            if (missing == 0) {
                tasksMeanwhile.complete(tasks);
            }
        }
    }

    private static final class Writer extends ChannelInboundHandlerAdapter {

        private int left = MESSAGES;

        @Override
        public void channelActive(ChannelHandlerContext context) {
            write(context);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            write(context);
        }

        private void write(ChannelHandlerContext context) {
            while (left > 0 && context.channel().isWritable()) {
                left--;
                context.writeAndFlush(context.alloc().directBuffer(SIZE).writeZero(SIZE));
            }
        }
    }
}
