// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * The threads of one of the transport's loops and of the loop beside it, where the group has an executor of the application's.
 * That may have a thread for each loop, and none more: it gives the first one. The other one is made here, a daemon if the first
 * is one. So the two keep the JVM from its end, or not, as the one would have.
 * <p>
 * Nothing of it goes through the loop's queue, which may be the application's as well, and full.
 */
final class PairThreads implements Executor {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("io.github.nettyucx.agent");

    private final Executor executor;
    /** Whether the first one is a daemon; {@code null} as long as there is none. Guarded by this object, as is what follows. */
    private Boolean isDaemon;
    private final List<Runnable> waiting = new ArrayList<>();

    PairThreads(Executor executor) {
        this.executor = executor;
    }

    /** For the transport's loop. */
    @Override
    public void execute(Runnable loop) {
        executor.execute(() -> {
            begin();
            PlatformThreads.run(loop);
        });
    }

    private void begin() {
        boolean daemon = Thread.currentThread().isDaemon();
        List<Runnable> loops;
        synchronized (this) {
            isDaemon = daemon;
            loops = List.copyOf(waiting);
            waiting.clear();
        }
        for (Runnable each : loops) {
            try {
                start(each, daemon);
            } catch (Throwable t) {
                logger.warn("There is no thread for an event loop of channels that the UCX transport does not take.", t);
            }
        }
    }

    /** For the loop beside that one. */
    Executor beside(EventLoop taken) {
        return loop -> startBeside(taken, loop);
    }

    private void startBeside(EventLoop taken, Runnable loop) {
        Boolean daemon = daemonOrWait(loop);
        if (daemon != null) {
            start(loop, daemon);
            return;
        }
        if (!taken.isShuttingDown()) {
            try {
                // It need not be performed: it has the loop get its thread.
                taken.execute(() -> {
                });
                return;
            } catch (RejectedExecutionException e) {
                // It has ended meanwhile.
            }
        }
        if (withdraw(loop)) {
            start(loop, Thread.currentThread().isDaemon());
        }
    }

    private synchronized Boolean daemonOrWait(Runnable loop) {
        if (isDaemon == null) {
            waiting.add(loop);
        }
        return isDaemon;
    }

    private synchronized boolean withdraw(Runnable loop) {
        return waiting.remove(loop);
    }

    private static void start(Runnable loop, boolean daemon) {
        new DefaultThreadFactory("netty-ucx-beside", daemon).newThread(loop).start();
    }
}
