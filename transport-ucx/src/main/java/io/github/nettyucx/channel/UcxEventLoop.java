// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.worker.ProgressEngine;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.EventLoopTaskQueueFactory;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.RejectedExecutionHandler;
import io.netty.util.internal.PlatformDependent;

import java.util.Iterator;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * An {@link EventLoop} that drives a {@link ProgressEngine}: all channels that are registered with it share its UCX
 * workers. Applications use a {@link UcxEventLoopGroup}; who extends this class has groups of another kind.
 */
public class UcxEventLoop extends SingleThreadEventLoop {

    /** How long tasks may hold up input and output in one turn; a task that runs longer is not interrupted. */
    private static final long TASK_BUDGET_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** However little time the loop is given to end in, its channels have that much to deliver what was flushed. */
    private static final long MIN_LINGER_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final IoDriver driver;
    private final Queue<Runnable> queue;
    private volatile long lingerNanos = MIN_LINGER_NANOS;
    /** Ends all waits for peers when the time is over; {@code null} until there is one. */
    private Future<?> lingerEnd;
    private long lingerDeadlineNanos;
    private boolean ending;
    private final TaskView tasks = new TaskView() {

        @Override
        public boolean remain() {
            return hasTasks();
        }

        /**
         * Not when the loop is ending: it closes its channels, and for its end it must have run no tasks for a time. Where
         * there is no room, the handler for rejected tasks is not asked: it is the application's, and the task is not.
         */
        @Override
        public boolean addLast(Runnable task) {
            return !isShuttingDown() && queue.offer(task);
        }

        /** The loop's end is pending, too: what it waited for may have come in the first of several turns. */
        @Override
        public boolean isPending(boolean tasksOnly) {
            return hasTasks() || !tasksOnly && nextScheduledTaskDeadlineNanos() != -1 && hasScheduledTasks()
                    || ending && !driver.isLingering();
        }

        @Override
        public long deadlineNanos() {
            return nextScheduledTaskDeadlineNanos();
        }

        @Override
        public long delayNanos() {
            return nextScheduledTaskDeadlineNanos() - getCurrentTimeNanos();
        }
    };

    /**
     * @param parent                   the group that the loop is of
     * @param executor                 gives the loop its thread
     * @param waitStrategy             what the loop does while nothing happens
     * @param rejectedExecutionHandler is asked when a task cannot be queued
     * @param taskQueueFactory         makes the queue of tasks, or {@code null} for the default
     * @param tailTaskQueueFactory     makes the queue of tasks that run at the end of a turn, or {@code null} for the
     *                                 default
     */
    protected UcxEventLoop(EventLoopGroup parent, Executor executor, UcxWaitStrategy waitStrategy,
                           RejectedExecutionHandler rejectedExecutionHandler,
                           EventLoopTaskQueueFactory taskQueueFactory,
                           EventLoopTaskQueueFactory tailTaskQueueFactory) {
        this(parent, executor, waitStrategy, rejectedExecutionHandler, newTaskQueue(taskQueueFactory),
                newTaskQueue(tailTaskQueueFactory));
    }

    private UcxEventLoop(EventLoopGroup parent, Executor executor, UcxWaitStrategy waitStrategy,
                         RejectedExecutionHandler rejectedExecutionHandler, Queue<Runnable> queue,
                         Queue<Runnable> tailQueue) {
        super(parent, executor, false, queue, tailQueue, rejectedExecutionHandler);
        this.queue = queue;
        driver = new IoDriver(waitStrategy);
    }

    private static Queue<Runnable> newTaskQueue(EventLoopTaskQueueFactory factory) {
        return factory == null ? newQueue(DEFAULT_MAX_PENDING_TASKS)
                : factory.newTaskQueue(DEFAULT_MAX_PENDING_TASKS);
    }

    private static Queue<Runnable> newQueue(int maxPendingTasks) {
        return maxPendingTasks == Integer.MAX_VALUE ? PlatformDependent.newMpscQueue()
                : PlatformDependent.newMpscQueue(maxPendingTasks);
    }

    @Override
    protected Queue<Runnable> newTaskQueue(int maxPendingTasks) {
        return newQueue(maxPendingTasks);
    }

    // ------------------------------------------------------------------------------------------- channels

    IoDriver driver() {
        return driver;
    }

    /** Registers a channel. Only for the loop's own thread. */
    LoopRegistration attach(Channel channel) {
        assert inEventLoop();
        return driver.register(channel);
    }

    /** What this loop has done so far. Any thread may call. */
    public UcxMetrics metrics() {
        return driver.metrics();
    }

    /**
     * To be called on the loop by who has woken another thread of the process that may have no processor but the loop's:
     * a loop that is {@link UcxWaitStrategy#ADAPTIVE} then sleeps as soon as it has nothing to do, and does not look for
     * work before. Once; what comes wakes it.
     */
    public void rest() {
        assert inEventLoop();
        driver.rest();
    }

    /**
     * Whether the loop had found nothing to do and slept, just before the turn that it is in. Only for the loop's own thread.
     */
    public boolean hasSlept() {
        assert inEventLoop();
        return driver.hasSlept();
    }

    @Override
    public int registeredChannels() {
        return driver.channelCount();
    }

    @Override
    public Iterator<Channel> registeredChannelsIterator() {
        assert inEventLoop();
        // A copy that refuses changes: a channel leaves the loop by being deregistered.
        return driver.channels().iterator();
    }

    // ------------------------------------------------------------------------------------------- the loop

    @Override
    protected void run() {
        try {
            turns();
        } finally {
            // An error has ended the loop, or its last tasks have brought more channels.
            driver.abandonAll();
        }
    }

    private void turns() {
        for (;;) {
            try {
                driver.run(tasks);
                if (driver.isPending()) {
                    runAllTasks(TASK_BUDGET_NANOS);
                }
                if (isShuttingDown()) {
                    driver.closeAll();
                    boundLinger();
                    if (!driver.isLingering() && confirmShutdown()) {
                        return;
                    }
                }
            } catch (Error e) {
                throw e;
            } catch (Throwable t) {
                IoDriver.handleLoopException(t);
            }
        }
    }

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
        if (!isShuttingDown()) {
            lingerNanos = Math.max(MIN_LINGER_NANOS, unit.toNanos(timeout));
        }
        return super.shutdownGracefully(quietPeriod, timeout, unit);
    }

    /** Again and again: Netty cancels timers in a quiet period, in which channels may still come. */
    private void boundLinger() {
        if (!ending) {
            ending = true;
            lingerDeadlineNanos = System.nanoTime() + lingerNanos;
        }
        if (driver.isLingering() && (lingerEnd == null || lingerEnd.isDone())) {
            long left = Math.max(0, lingerDeadlineNanos - System.nanoTime());
            lingerEnd = schedule(driver::cutLingering, left, TimeUnit.NANOSECONDS);
        }
    }

    @Override
    protected void wakeup(boolean inEventLoop) {
        if (!inEventLoop) {
            driver.wakeup();
        }
    }

    @Override
    protected boolean beforeScheduledTaskSubmitted(long deadlineNanos) {
        return !driver.wakesBefore(deadlineNanos);
    }

    @Override
    protected boolean afterScheduledTaskSubmitted(long deadlineNanos) {
        return !driver.wakesBefore(deadlineNanos);
    }

    @Override
    protected void cleanup() {
        driver.destroy();
    }
}
