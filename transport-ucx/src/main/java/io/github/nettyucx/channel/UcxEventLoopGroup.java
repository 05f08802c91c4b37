// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopTaskQueueFactory;
import io.netty.channel.MultithreadEventLoopGroup;
import io.netty.channel.SelectStrategyFactory;
import io.netty.util.concurrent.DefaultEventExecutorChooserFactory;
import io.netty.util.concurrent.EventExecutorChooserFactory;
import io.netty.util.concurrent.RejectedExecutionHandler;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import io.netty.util.internal.ObjectUtil;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/**
 * Event loops for {@link UcxSocketChannel} and {@link UcxServerSocketChannel}.
 * <p>
 * The constructors are those of Netty's epoll transport, but for the deprecated one with both {@code maxEventsAtOnce} and a
 * {@link SelectStrategyFactory}. Two further ones take a {@link UcxWaitStrategy}. A
 * {@link SelectStrategyFactory} is accepted and not used: what a loop does while it has nothing to do is the wait
 * strategy's matter.
 *
 * @see Ucx#isAvailable()
 */
public final class UcxEventLoopGroup extends MultithreadEventLoopGroup {

    static {
        // While Netty initializes itself for the first group.
        Ucx.prepare();
    }

    {
        // When a group is made, and not when the class is merely loaded. The loops are there by now, as the superclass's
        // constructor has made them, but a loop has nothing of UCX before it starts.
        Ucx.ensureUsable();
    }

    /** Twice as many loops as there are processors, or the number of {@code -Dio.netty.eventLoopThreads}. */
    public UcxEventLoopGroup() {
        this(0);
    }

    /**
     * @param nThreads how many loops; 0 for the default number
     */
    public UcxEventLoopGroup(int nThreads) {
        this(nThreads, (ThreadFactory) null);
    }

    /**
     * @param nThreads     how many loops; 0 for the default number
     * @param waitStrategy what the loops do while nothing happens
     */
    public UcxEventLoopGroup(int nThreads, UcxWaitStrategy waitStrategy) {
        this(nThreads, (ThreadFactory) null, waitStrategy);
    }

    /**
     * @param nThreads      how many loops; 0 for the default number
     * @param threadFactory makes the loops' threads, or {@code null} for the default
     * @param waitStrategy  what the loops do while nothing happens
     */
    public UcxEventLoopGroup(int nThreads, ThreadFactory threadFactory, UcxWaitStrategy waitStrategy) {
        super(nThreads, threadFactory, Objects.requireNonNull(waitStrategy, "waitStrategy"),
                RejectedExecutionHandlers.reject());
    }

    public UcxEventLoopGroup(ThreadFactory threadFactory) {
        this(0, threadFactory);
    }

    public UcxEventLoopGroup(int nThreads, SelectStrategyFactory selectStrategyFactory) {
        this(nThreads, (ThreadFactory) null, selectStrategyFactory);
    }

    public UcxEventLoopGroup(int nThreads, ThreadFactory threadFactory) {
        this(nThreads, threadFactory, DefaultSelectStrategyFactory.INSTANCE);
    }

    public UcxEventLoopGroup(int nThreads, Executor executor) {
        this(nThreads, executor, DefaultSelectStrategyFactory.INSTANCE);
    }

    public UcxEventLoopGroup(int nThreads, ThreadFactory threadFactory, SelectStrategyFactory selectStrategyFactory) {
        super(nThreads, threadFactory, UcxWaitStrategy.byDefault(), RejectedExecutionHandlers.reject());
        Objects.requireNonNull(selectStrategyFactory, "selectStrategyFactory");
    }

    /**
     * @param maxEventsAtOnce not used: the transport takes as many events as there are
     * @deprecated as in Netty's epoll transport
     */
    @Deprecated
    public UcxEventLoopGroup(int nThreads, ThreadFactory threadFactory, int maxEventsAtOnce) {
        this(nThreads, threadFactory);
        ObjectUtil.checkPositiveOrZero(maxEventsAtOnce, "maxEventsAtOnce");
    }

    public UcxEventLoopGroup(int nThreads, Executor executor, SelectStrategyFactory selectStrategyFactory) {
        this(nThreads, executor, DefaultEventExecutorChooserFactory.INSTANCE, selectStrategyFactory);
    }

    public UcxEventLoopGroup(int nThreads, Executor executor, EventExecutorChooserFactory chooserFactory,
                             SelectStrategyFactory selectStrategyFactory) {
        this(nThreads, executor, chooserFactory, selectStrategyFactory, RejectedExecutionHandlers.reject());
    }

    public UcxEventLoopGroup(int nThreads, Executor executor, EventExecutorChooserFactory chooserFactory,
                             SelectStrategyFactory selectStrategyFactory,
                             RejectedExecutionHandler rejectedExecutionHandler) {
        this(nThreads, executor, chooserFactory, selectStrategyFactory, rejectedExecutionHandler, null);
    }

    public UcxEventLoopGroup(int nThreads, Executor executor, EventExecutorChooserFactory chooserFactory,
                             SelectStrategyFactory selectStrategyFactory,
                             RejectedExecutionHandler rejectedExecutionHandler,
                             EventLoopTaskQueueFactory taskQueueFactory) {
        this(nThreads, executor, chooserFactory, selectStrategyFactory, rejectedExecutionHandler, taskQueueFactory,
                null);
    }

    /**
     * @param nThreads                 how many loops; 0 for the default number
     * @param executor                 runs the loops, or {@code null} for one thread each
     * @param chooserFactory           decides which loop is next
     * @param selectStrategyFactory    not used
     * @param rejectedExecutionHandler is asked when a task cannot be queued
     * @param taskQueueFactory         makes the queue of tasks, or {@code null} for the default
     * @param tailTaskQueueFactory     makes the queue of tasks that run at the end of a turn, or {@code null} for the
     *                                 default
     */
    public UcxEventLoopGroup(int nThreads, Executor executor, EventExecutorChooserFactory chooserFactory,
                             SelectStrategyFactory selectStrategyFactory,
                             RejectedExecutionHandler rejectedExecutionHandler,
                             EventLoopTaskQueueFactory taskQueueFactory,
                             EventLoopTaskQueueFactory tailTaskQueueFactory) {
        super(nThreads, executor, chooserFactory, UcxWaitStrategy.byDefault(), rejectedExecutionHandler,
                taskQueueFactory, tailTaskQueueFactory);
        Objects.requireNonNull(selectStrategyFactory, "selectStrategyFactory");
    }

    /**
     * Has no effect: tasks get a millisecond of each turn, and input and output as long as they take.
     *
     * @param ioRatio percent, from 1 to 100
     * @throws IllegalArgumentException if out of range
     */
    public void setIoRatio(int ioRatio) {
        if (ioRatio <= 0 || ioRatio > 100) {
            throw new IllegalArgumentException("ioRatio: " + ioRatio + " (expected: 1 to 100, in percent)");
        }
    }

    /** What the loops of this group have done so far; {@link UcxEventLoop#metrics()} tells that of one. */
    public UcxMetrics metrics() {
        List<UcxMetrics> loops = new ArrayList<>(executorCount());
        forEach(loop -> loops.add(((UcxEventLoop) loop).metrics()));
        return UcxMetrics.sum(loops);
    }

    @Override
    protected EventLoop newChild(Executor executor, Object... args) {
        return new UcxEventLoop(this, executor, (UcxWaitStrategy) args[0], (RejectedExecutionHandler) args[1],
                args.length > 2 ? (EventLoopTaskQueueFactory) args[2] : null,
                args.length > 3 ? (EventLoopTaskQueueFactory) args[3] : null);
    }
}
