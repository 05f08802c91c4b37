// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;

import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The loop of Netty's that stands beside one of the transport's: made when a channel needs it, and ended with the other. Any
 * thread may call.
 */
final class LoopBeside {

    private final Callable<EventLoop> maker;
    private final Promise<Object> bothEnded = new DefaultPromise<>(GlobalEventExecutor.INSTANCE);
    /** {@code null} as long as nobody needs it. Guarded by this object, as is what follows. */
    private EventLoop loop;
    private boolean ending;

    LoopBeside(Callable<EventLoop> maker) {
        this.maker = maker;
    }

    /** @throws RejectedExecutionException if there is none, and the loops end, or none can be made */
    synchronized EventLoop get() {
        if (loop == null) {
            if (ending) {
                throw new RejectedExecutionException("event loop shut down");
            }
            try {
                loop = maker.call();
            } catch (Exception e) {
                throw new RejectedExecutionException("failed to make an event loop for a channel that the UCX transport"
                        + " does not take", e);
            }
        }
        return loop;
    }

    private synchronized EventLoop end() {
        ending = true;
        return loop;
    }

    void shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
        EventLoop ended = end();
        if (ended != null) {
            ended.shutdownGracefully(quietPeriod, timeout, unit);
        }
    }

    @SuppressWarnings("deprecation")
    void shutdown() {
        EventLoop ended = end();
        if (ended != null) {
            ended.shutdown();
        }
    }

    /** Done when both loops have ended. */
    Future<?> bothEnded() {
        return bothEnded;
    }

    /** The other one has ended, perhaps without having been told to. */
    void otherHasEnded() {
        EventLoop ended = end();
        if (ended == null) {
            bothEnded.setSuccess(null);
        } else {
            ended.shutdownGracefully(0, 1, TimeUnit.SECONDS);
            ended.terminationFuture().addListener(end -> bothEnded.setSuccess(null));
        }
    }
}
