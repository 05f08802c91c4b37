// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.concurrent.Executor;

/**
 * Has the transport's loops run on platform threads, whatever threads the application's executor has. A loop waits in native
 * calls: on a virtual thread it would keep the carrier from all other virtual threads.
 */
final class PlatformThreads implements Executor {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("io.github.nettyucx.agent");

    private final Executor executor;

    PlatformThreads(Executor executor) {
        this.executor = executor;
    }

    @Override
    public void execute(Runnable loop) {
        executor.execute(() -> run(loop));
    }

    /** Here, or on a thread of its own if this one is virtual. Returns when the loop has ended in any case, as executors expect. */
    static void run(Runnable loop) {
        Thread virtual = Thread.currentThread();
        if (!virtual.isVirtual()) {
            loop.run();
            return;
        }
        Thread thread;
        try {
            thread = start(virtual, loop);
        } catch (Throwable t) {
            // Its group has been told already that it runs.
            logger.warn("There is no platform thread for an event loop of the UCX transport: it runs on a virtual one.", t);
            loop.run();
            return;
        }
        awaitEnd(thread);
    }

    /** Virtual threads do not keep the JVM from its end, and most have no name. */
    private static Thread start(Thread virtual, Runnable loop) {
        Thread thread = new DefaultThreadFactory("netty-ucx-loop", true).newThread(loop);
        if (!virtual.getName().isEmpty()) {
            thread.setName(virtual.getName());
        }
        thread.start();
        return thread;
    }

    /** Who interrupts the one means the other. */
    private static void awaitEnd(Thread thread) {
        while (true) {
            try {
                thread.join();
                return;
            } catch (InterruptedException e) {
                thread.interrupt();
            }
        }
    }
}
