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
import java.util.function.BiConsumer;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tasks that never end leave input and output its part of the loop's time. */
@Tag("ucx-matrix")
class EndlessTasksTest {

    private static final int SIZE = 64 * 1024;
    private static final long TASK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int MESSAGES = 512;
    /**
     * Without a share of the time 2,000 are needed over sockets, 16,000 over shared memory, and 32,000 over UCX's TCP. Some 100
     * are on an idle machine. Loops of Netty 4.2 run tasks for a second before their first turn.
     */
    private static final int MOST_TASKS = 1500;
    private static final int MESSAGES_BETWEEN_TIMERS = 8192;
    /** Without a share of the time 4,000 are needed over shared memory, and 8,000 over UCX's TCP. */
    private static final int MOST_TIMERS = 2500;

    private final CompletableFuture<Integer> tasksMeanwhile = new CompletableFuture<>();

    @OnEachLane
    void aStreamGoesOnBetweenThem() throws Exception {
        check(MESSAGES, MOST_TASKS, EventExecutor::execute);
    }

    /** Of these one is run after each turn. */
    @OnEachLane
    void aStreamGoesOnBetweenTimers() throws Exception {
        check(MESSAGES_BETWEEN_TIMERS, MOST_TIMERS, (loop, timer) -> loop.schedule(timer, 0, TimeUnit.NANOSECONDS));
    }

    private void check(int messages, int mostTasks, BiConsumer<EventExecutor, Runnable> again) throws Exception {
        try (Peers peers = new Peers(); Starvation writer = new Starvation()) {
            writer.add(peers.clientGroup);
            long before = writer.nanos();
            UcxServerSocketChannel server = peers.listen(() -> new Reader((long) messages * SIZE, again));
            Channel client = peers.connect(server, new Writer(messages));
            int tasks = tasksMeanwhile.get(60, TimeUnit.SECONDS);
            // While the writer has no processor the tasks go on, and take a millisecond each.
            long starved = TimeUnit.NANOSECONDS.toMillis(writer.nanos() - before);
            assertTrue(tasks <= mostTasks + starved,
                    () -> messages + " messages took " + tasks + " tasks, with no processor for " + starved + " ms");
            Peers.await(client.close());
        }
    }

    private final class Reader extends ChannelInboundHandlerAdapter {

        private final BiConsumer<EventExecutor, Runnable> again;
        private EventExecutor loop;
        private int tasks;
        private long missing;

        Reader(long expected, BiConsumer<EventExecutor, Runnable> again) {
            missing = expected;
            this.again = again;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            loop = context.executor();
            again.accept(loop, this::task);
        }

        private void task() {
            long start = System.nanoTime();
            while (System.nanoTime() - start < TASK_NANOS) {
                Thread.onSpinWait();
            }
            tasks++;
            if (!tasksMeanwhile.isDone()) {
                again.accept(loop, this::task);
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

        private int left;

        Writer(int messages) {
            left = messages;
        }

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
