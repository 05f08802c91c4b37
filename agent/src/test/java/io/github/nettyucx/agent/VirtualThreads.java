// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.Future;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** An application whose event loops are to run on virtual threads, of a {@code factory} or of an {@code executor}. */
public final class VirtualThreads {

    private static final int SECONDS = 15;

    private VirtualThreads() {
    }

    public static void main(String[] arguments) throws Exception {
        ThreadFactory threads = Thread.ofVirtual().name("own-", 0).factory();
        try (ExecutorService executor = Executors.newThreadPerTaskExecutor(threads)) {
            boolean isFactory = arguments[0].equals("factory");
            EventLoopGroup group = isFactory ? new NioEventLoopGroup(1, threads) : new NioEventLoopGroup(1, executor);
            Thread loop = group.submit(Thread::currentThread).get();
            System.out.println(group.next().getClass().getSimpleName() + " on " + loop.getName() + ", virtual "
                    + loop.isVirtual() + ", daemon " + loop.isDaemon());
            Thread other = Thread.ofVirtual().start(() -> {
            });
            System.out.println("another ran " + other.join(Duration.ofSeconds(SECONDS)));
            if (!isFactory) {
                interrupt(executor, group);
            }
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
            System.out.println("executor ended " + (isFactory || executor.awaitTermination(SECONDS, TimeUnit.SECONDS)));
        }
    }

    /** Executors interrupt the threads of the tasks that they want to end, and have ended when these have. */
    private static void interrupt(ExecutorService executor, EventLoopGroup group) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        Future<Boolean> interrupted = group.submit(() -> {
            begun.countDown();
            try {
                return new CountDownLatch(1).await(SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                return true;
            }
        });
        begun.await();
        executor.shutdownNow();
        System.out.println("interrupted " + interrupted.get() + ", executor ended " + executor.isTerminated());
    }
}
