// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.io;

import io.github.nettyucx.channel.IoDriver;
import io.github.nettyucx.channel.LoopShape;
import io.github.nettyucx.channel.TaskView;
import io.github.nettyucx.channel.Ucx;
import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.channel.Channel;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.internal.StringUtil;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Has an event loop of Netty 4.2 take the channels of this transport:
 * {@code new MultiThreadIoEventLoopGroup(UcxIoHandler.newFactory())}.
 * <p>
 * The loop can be any {@link io.netty.channel.IoEventLoop}. It cannot be suspended, as UCX's objects belong to the
 * thread that made them.
 * <p>
 * When the loop is shut down, its channels deliver what was flushed before; each as long as its
 * {@link io.github.nettyucx.channel.UcxChannelOption#CLOSE_TIMEOUT_MILLIS} or its {@code SO_LINGER} says, and all
 * within 15 seconds. The loop's timers and tasks wait for that.
 *
 * @see Ucx#isAvailable()
 */
public final class UcxIoHandler implements IoHandler {

    /** Netty's own default for the time in which an event loop ends; what a loop was told cannot be asked for. */
    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(15);

    static {
        LoopShape.install(new IoLoopShape());
    }

    private final ThreadAwareExecutor executor;
    private final IoDriver driver;
    private final ContextTasks tasks;
    /** How many channels have been registered so far, and how many had been when the loop's end last closed them. */
    private int registered;
    private int ended;

    /** What the driver has to know of tasks and timers, as the context of the loop's turn tells it. */
    private static final class ContextTasks implements TaskView {

        private final ThreadAwareExecutor executor;
        private IoHandlerContext context;
        /** Netty tells of tasks; that a timer is due it finds out by the clock. */
        private volatile boolean added;

        ContextTasks(ThreadAwareExecutor executor) {
            this.executor = executor;
        }

        @Override
        public boolean remain() {
            return added && !context.canBlock();
        }

        /**
         * Also when the loop is ending: Netty then runs tasks until there are none, and those of a channel may come again and
         * again until input and output finds that its peer has gone. This one does not count as one that remains.
         */
        @Override
        public boolean addLast(Runnable task) {
            boolean before = added;
            int others = size();
            try {
                executor.execute(task);
            } catch (RuntimeException e) {
                // Where there is no room the application's handler for rejected tasks is asked, and throws what it likes.
                return false;
            }
            if (!before) {
                added = false;
            }
            // Or it drops the task, and says nothing. Only this thread takes tasks out.
            int now = size();
            return now < 0 || now > others;
        }

        /** Of the queue, or -1 if nobody knows. */
        private int size() {
            return executor instanceof SingleThreadEventExecutor loop ? loop.pendingTasks() : -1;
        }

        @Override
        public boolean isPending(boolean tasksOnly) {
            // Netty reads the clock for either question, timers or none. The loop runs its timers after each turn in any
            // case.
            if (tasksOnly && !added) {
                return false;
            }
            if (added) {
                added = false;
            }
            return !context.canBlock();
        }

        /** Any thread may call. */
        void added() {
            if (!added) {
                added = true;
            }
        }

        @Override
        public long deadlineNanos() {
            return context.deadlineNanos();
        }

        @Override
        public long delayNanos() {
            return context.delayNanos(System.nanoTime());
        }
    }

    UcxIoHandler(ThreadAwareExecutor executor, IoDriver driver) {
        this.executor = Objects.requireNonNull(executor, "executor");
        tasks = new ContextTasks(executor);
        this.driver = driver;
    }

    /**
     * For loops that wait as the system property {@code io.github.nettyucx.waitStrategy} says.
     *
     * @throws UnsatisfiedLinkError     if the transport cannot be used, see {@link Ucx#ensureUsable()}
     * @throws IllegalArgumentException if the property names no strategy
     */
    public static UcxIoHandlerFactory newFactory() {
        return newFactory(UcxWaitStrategy.byDefault());
    }

    /**
     * @param waitStrategy what the loops do while nothing happens
     * @throws UnsatisfiedLinkError if the transport cannot be used, see {@link Ucx#ensureUsable()}
     */
    public static UcxIoHandlerFactory newFactory(UcxWaitStrategy waitStrategy) {
        Objects.requireNonNull(waitStrategy, "waitStrategy");
        Ucx.ensureUsable();
        return new UcxIoHandlerFactory(waitStrategy);
    }

    IoDriver driver() {
        return driver;
    }

    // ------------------------------------------------------------------------------------------- channels

    /** How many channels are registered with its loop. Any thread may call; what another thread gets may be out of date. */
    public int channelCount() {
        return driver.channelCount();
    }

    /** The channels that are registered with its loop, at this moment: a list that refuses changes. For the loop's own thread. */
    public List<Channel> channels() {
        return driver.channels();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return ChannelHandle.class.isAssignableFrom(handleType);
    }

    @Override
    public IoRegistration register(IoHandle handle) {
        if (!(handle instanceof ChannelHandle channelHandle)) {
            throw new IllegalArgumentException("a handle of type " + StringUtil.simpleClassName(handle)
                    + "; expected one of a UcxSocketChannel, UcxServerSocketChannel or UcxDatagramChannel");
        }
        registered++;
        return new ChannelRegistration(channelHandle, driver.register(channelHandle.channel()));
    }

    // ------------------------------------------------------------------------------------------- the loop's turn

    @Override
    public int run(IoHandlerContext context) {
        tasks.context = context;
        if (!context.shouldReportActiveIoTime()) {
            return driver.run(tasks);
        }
        long start = System.nanoTime();
        int work = driver.run(tasks);
        if (work > 0) {
            context.reportActiveIoTime(System.nanoTime() - driver.workingSince(start));
        }
        return work;
    }

    /** Netty calls it for each task, also for those of the loop's own thread, which does not sleep. */
    @Override
    public void wakeup() {
        tasks.added();
        if (!executor.isExecutorThread(Thread.currentThread())) {
            driver.wakeup();
        }
    }

    // ------------------------------------------------------------------------------------------- the end

    /**
     * Netty's loop prepares its handler if it is told to end while it does input and output or waits, but not if it is
     * told so while it runs tasks. So the loop has a hook as well.
     */
    @Override
    public void initialize() {
        if (executor instanceof SingleThreadEventExecutor loop) {
            loop.addShutdownHook(this::closeChannels);
        }
    }

    /** By a task, so that tasks that were there before are run before: they may write. */
    @Override
    public void prepareToDestroy() {
        if (hasChannelsToClose()) {
            try {
                executor.execute(this::closeChannels);
            } catch (RuntimeException e) {
                // After shutdown() in the place of shutdownGracefully(), as by ExecutorService.close(), no task is taken:
                // destroy() closes them, when the tasks that are there have been run. Where there is no room the next turn
                // asks again, unless the loop has ended by then.
            }
        }
    }

    /** Not again without a new channel: a loop that always has something to do would not end. */
    private boolean hasChannelsToClose() {
        return ended != registered && (driver.channelCount() > 0 || driver.isLingering());
    }

    /** Stays until all is delivered: a loop without a quiet period ends as soon as it has run its tasks. */
    private void closeChannels() {
        if (hasChannelsToClose()) {
            ended = registered;
            driver.closeAllAndLinger(LINGER_NANOS);
        }
    }

    /** Tasks that never cease keep the loop from preparing its end, and so does an end that takes none any more. */
    @Override
    public void destroy() {
        driver.destroy(hasChannelsToClose() ? LINGER_NANOS : 0);
    }
}
