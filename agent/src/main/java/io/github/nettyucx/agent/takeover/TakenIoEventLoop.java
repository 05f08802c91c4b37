// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.github.nettyucx.agent.hook.Beside;
import io.github.nettyucx.agent.hook.Hooks;
import io.github.nettyucx.io.UcxIoHandler;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopTaskQueueFactory;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.internal.PlatformDependent;

import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** A loop of Netty 4.2's that the transport drives, in a group that was to be driven by a handler of Netty's. */
final class TakenIoEventLoop extends SingleThreadIoEventLoop implements Beside {

    /** Knows the handler, which the superclass has it make. */
    private static final class Handlers implements IoHandlerFactory {

        private UcxIoHandler made;

        @Override
        public IoHandler newHandler(ThreadAwareExecutor executor) {
            // One for each loop: a factory knows its handlers for as long as it lives.
            made = UcxIoHandler.newFactory().newHandler(executor);
            return made;
        }
    }

    private final UcxIoHandler handler;
    private final LoopBeside beside;
    /** The kind of handler that the application has asked for, and the handles that it takes. */
    private final Class<?> wanted;
    private final Class<?> wantedHandles;

    TakenIoEventLoop(IoEventLoopGroup parent, Executor executor, LoopSettings settings, Class<?> wanted,
                     LoopBeside.Maker maker) {
        this(parent, executor, new Handlers(), settings, wanted, maker);
    }

    private TakenIoEventLoop(IoEventLoopGroup parent, Executor executor, Handlers handlers, LoopSettings settings,
                             Class<?> wanted, LoopBeside.Maker maker) {
        super(parent, executor, handlers, queue(settings.tasks()), queue(settings.tailTasks()), settings.rejected());
        this.wanted = wanted;
        wantedHandles = handlesOf(wanted);
        handler = handlers.made;
        beside = new LoopBeside(this, maker);
        super.terminationFuture().addListener(beside::otherHasEnded);
    }

    /** Netty's own, if the group has been given none. */
    private static Queue<Runnable> queue(EventLoopTaskQueueFactory factory) {
        if (factory != null) {
            return factory.newTaskQueue(DEFAULT_MAX_PENDING_TASKS);
        }
        return DEFAULT_MAX_PENDING_TASKS == Integer.MAX_VALUE ? PlatformDependent.newMpscQueue()
                : PlatformDependent.newMpscQueue(DEFAULT_MAX_PENDING_TASKS);
    }

    @Override
    public EventLoop loopBeside() {
        return beside.get();
    }

    /** Netty's own loops of NIO and of epoll tell this as well. */
    @Override
    public int registeredChannels() {
        return handler.channelCount();
    }

    @Override
    public Iterator<Channel> registeredChannelsIterator() {
        assert inEventLoop();
        return handler.channels().iterator();
    }

    /** Applications choose their channels' classes by it, which the agent then replaces. */
    @Override
    public boolean isIoType(Class<? extends IoHandler> handlerType) {
        return handlerType == wanted || super.isIoType(handlerType);
    }

    /**
     * The same. What is registered here for all that, as it is not the transport's, is registered with the loop beside.
     */
    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return super.isCompatible(handleType)
                || wantedHandles != null && wantedHandles.isAssignableFrom(handleType) && !Hooks.isRegistering();
    }

    /** @return {@code NioIoHandle} for {@code NioIoHandler}, and so on; {@code null} if there is none */
    private static Class<?> handlesOf(Class<?> handlerType) {
        String name = handlerType == null ? "" : handlerType.getName();
        try {
            return name.endsWith("r") ? Class.forName(name.substring(0, name.length() - 1), false, handlerType.getClassLoader())
                    : null;
        } catch (ClassNotFoundException e) {
            return null;
        }
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
