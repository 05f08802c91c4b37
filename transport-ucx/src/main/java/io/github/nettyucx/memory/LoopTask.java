// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** What another thread has an event loop do that must not be forgotten. */
final class LoopTask {

    private static final long RETRY_MILLIS = 10;

    private LoopTask() {
    }

    /**
     * Has it run, unless the loop has ended. One that has no room for a task now is asked again; whoever rejects its tasks is the
     * application's, and may throw what it likes.
     */
    static void execute(Executor loop, Runnable task) {
        try {
            loop.execute(task);
        } catch (RuntimeException e) {
            if (loop instanceof EventExecutor executor && !executor.isShutdown()) {
                GlobalEventExecutor.INSTANCE.schedule(() -> execute(loop, task), RETRY_MILLIS, TimeUnit.MILLISECONDS);
            }
        }
    }
}
