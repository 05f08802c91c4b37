// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.DefaultEventExecutorChooserFactory;
import io.netty.util.concurrent.RejectedExecutionHandler;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/**
 * A loop whose queue of tasks is always full, as an application may have it that bounds the queue: input and output goes on, and
 * the application's handler for rejected tasks hears of no task but the application's.
 */
public class FullQueueTest {

    private static final int ROOM = 16;
    private static final int ROUND_TRIPS = 10;
    private static final long TASK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** What an application may do with what has no room. */
    public enum Rejection {
        THROWS {
            @Override
            void rejected(Runnable task) {
                throw new IllegalStateException("overloaded");
            }
        },
        DROPS {
            @Override
            void rejected(Runnable task) {
                // It is lost.
            }
        },
        RUNS_IT {
            @Override
            void rejected(Runnable task) {
                task.run();
            }
        };

        abstract void rejected(Runnable task);
    }

    private static final class Endless implements Runnable {

        private final EventLoop loop;
        private volatile boolean ended;

        Endless(EventLoop loop) {
            this.loop = loop;
        }

        @Override
        public void run() {
            long start = System.nanoTime();
            while (System.nanoTime() - start < TASK_NANOS) {
                Thread.onSpinWait();
            }
            if (!ended) {
                // It has just left the queue: there is room for it.
                loop.execute(this);
            }
        }
    }

    private static final class Asking extends ChannelInboundHandlerAdapter {

        private final CompletableFuture<Void> answered = new CompletableFuture<>();
        private int left = ROUND_TRIPS;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (--left == 0) {
                ((ByteBuf) message).release();
                answered.complete(null);
            } else {
                context.writeAndFlush(message);
            }
        }
    }

    /** A group of one loop, with a queue of its own. */
    protected EventLoopGroup group(RejectedExecutionHandler handler, Queue<Runnable> queue) {
        return new UcxEventLoopGroup(1, (Executor) null, DefaultEventExecutorChooserFactory.INSTANCE,
                DefaultSelectStrategyFactory.INSTANCE, handler, ignored -> queue);
    }

    /** Whether the loop can look for room without asking the handler. */
    protected boolean asksNobody() {
        return true;
    }

    @ParameterizedTest
    @EnumSource
    public void inputAndOutputGoesOn(Rejection rejection) throws Exception {
        var rejected = new AtomicInteger();
        RejectedExecutionHandler handler = (task, loop) -> {
            rejected.incrementAndGet();
            rejection.rejected(task);
        };
        Queue<Runnable> queue = new ArrayBlockingQueue<>(ROOM);
        EventLoopGroup full = group(handler, queue);
        EventLoop loop = TestLoops.first(full);
        Endless endless = new Endless(loop);
        var asking = new Asking();
        try (Peers peers = new Peers()) {
            var server = (UcxServerSocketChannel) Peers.await(new ServerBootstrap().group(full)
                    .channel(UcxServerSocketChannel.class).childHandler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext context, Object message) {
                            context.writeAndFlush(message);
                        }
                    }).bind(Peers.loopback(0))).channel();
            Channel channel = Peers.await(peers.client(asking).connect(server.localAddress())).channel();
            loop.submit(() -> {
                // A task of the loop's own may be there already.
                while (queue.size() < ROOM) {
                    loop.execute(endless);
                }
            }).get(15, TimeUnit.SECONDS);
            channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {'a'}));
            asking.answered.get(60, TimeUnit.SECONDS);
            assertFalse(loop.isShuttingDown());
            if (asksNobody()) {
                assertEquals(0, rejected.get(), "tasks that are not the application's");
            }
        } finally {
            endless.ended = true;
            full.shutdownGracefully(0, 15, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }
}
