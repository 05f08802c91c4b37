// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.concurrent.ExecutionException;

/** The event loops' threads of a group. */
final class Loops {
    private Loops() {
    }

    /** Starts all event loops. @return the identifiers of their threads */
    static long[] start(EventLoopGroup group) throws InterruptedException {
        var threads = new ArrayList<Long>();
        for (EventExecutor loop : group) {
            try {
                threads.add(loop.submit(() -> Thread.currentThread().threadId()).get());
            } catch (ExecutionException e) {
                throw new IllegalStateException("an event loop does not start", e.getCause());
            }
        }
        return threads.stream().mapToLong(Long::longValue).toArray();
    }
}
