// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.github.nettyucx.agent.hook.Beside;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.concurrent.Future;

import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** A loop of Netty 4.2's that the transport drives, in a group that was to be driven by a handler of Netty's. */
final class TakenIoEventLoop extends SingleThreadIoEventLoop implements Beside {

    private final LoopBeside beside;
    /** The kind of handler that the application has asked for. */
    private final Class<?> wanted;

    TakenIoEventLoop(IoEventLoopGroup parent, Executor executor, IoHandlerFactory transport, Class<?> wanted,
                     Callable<EventLoop> maker) {
        super(parent, executor, transport);
        this.wanted = wanted;
        beside = new LoopBeside(maker);
        super.terminationFuture().addListener(ended -> beside.otherHasEnded());
    }

    @Override
    public EventLoop loopBeside() {
        return beside.get();
    }

    /** Applications choose their channels' classes by it, which the agent then replaces. */
    @Override
    public boolean isIoType(Class<? extends IoHandler> handlerType) {
        return handlerType == wanted || super.isIoType(handlerType);
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
