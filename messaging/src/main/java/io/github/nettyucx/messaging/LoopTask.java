// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.GlobalEventExecutor;

import java.util.concurrent.TimeUnit;

/** What an event loop is to do, and must not forget: nobody else would ask it again. */
final class LoopTask {

    private static final long RETRY_MILLIS = 10;

    private LoopTask() {
    }

    /**
     * Has it run, unless the loop has ended. One that has no room for a task now is asked again; whoever rejects its tasks is the
     * application's, and may throw what it likes. One that drops them and says nothing has nothing delivered to it.
     */
    static void execute(EventLoop loop, Runnable task) {
        try {
            loop.execute(task);
        } catch (RuntimeException e) {
            if (loop.isShutdown()) {
                Node.LOGGER.debug("An event loop has ended before its node.", e);
            } else {
                GlobalEventExecutor.INSTANCE.schedule(() -> execute(loop, task), RETRY_MILLIS, TimeUnit.MILLISECONDS);
            }
        }
    }
}
