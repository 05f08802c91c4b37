// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.github.nettyucx.agent.hook.Beside;
import io.github.nettyucx.channel.UcxEventLoop;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** A loop of the transport's in a group of Netty 4.1's. */
final class TakenEventLoop extends UcxEventLoop implements Beside {

    private final LoopBeside beside;

    TakenEventLoop(EventLoopGroup parent, Executor executor, LoopSettings settings, LoopBeside.Maker maker) {
        super(parent, executor, UcxWaitStrategy.byDefault(), settings.rejected(), settings.tasks(), settings.tailTasks());
        beside = new LoopBeside(this, maker);
        super.terminationFuture().addListener(beside::otherHasEnded);
    }

    @Override
    public EventLoop loopBeside() {
        return beside.get();
    }

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
        // First, because it may refuse.
        super.shutdownGracefully(quietPeriod, timeout, unit);
        beside.shutdownGracefully(quietPeriod, timeout, unit);
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
        return super.isTerminated() && beside.hasEnded();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        long deadline = System.nanoTime() + unit.toNanos(timeout);
        // What it says is whether both have ended.
        super.awaitTermination(timeout, unit);
        return super.isTerminated() && beside.awaitTermination(Math.max(0, deadline - System.nanoTime()));
    }
}
