// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.github.nettyucx.agent.hook.Beside;
import io.github.nettyucx.channel.UcxEventLoop;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.EventLoopTaskQueueFactory;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.RejectedExecutionHandler;

import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** A loop of the transport's in a group of Netty 4.1's. */
final class TakenEventLoop extends UcxEventLoop implements Beside {

    private final LoopBeside beside;

    TakenEventLoop(EventLoopGroup parent, Executor executor, RejectedExecutionHandler rejectedExecutionHandler,
                   EventLoopTaskQueueFactory taskQueueFactory, EventLoopTaskQueueFactory tailTaskQueueFactory,
                   Callable<EventLoop> maker) {
        super(parent, executor, UcxWaitStrategy.byDefault(), rejectedExecutionHandler, taskQueueFactory,
                tailTaskQueueFactory);
        beside = new LoopBeside(maker);
        super.terminationFuture().addListener(ended -> beside.otherHasEnded());
    }

    @Override
    public EventLoop loopBeside() {
        return beside.get();
    }

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
        beside.shutdownGracefully(quietPeriod, timeout, unit);
        super.shutdownGracefully(quietPeriod, timeout, unit);
        return beside.bothEnded();
    }

    @Override
    @Deprecated
    public void shutdown() {
        beside.shutdown();
        super.shutdown();
    }

    @Override
    public Future<?> terminationFuture() {
        return beside.bothEnded();
    }

    @Override
    public boolean isTerminated() {
        return beside.bothEnded().isDone();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return beside.bothEnded().await(timeout, unit);
    }
}
