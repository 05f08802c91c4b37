// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The loop of Netty's that stands beside one of the transport's: made when a channel needs it, and ended with the other. Any
 * thread may call.
 */
final class LoopBeside {

    /** Makes it. */
    @FunctionalInterface
    interface Maker {

        /** @param taken the loop that it is to stand beside */
        EventLoop make(EventLoop taken) throws Exception;
    }

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("io.github.nettyucx.agent");

    /** It has nothing to do: a moment, unless the machine is busy. */
    private static final int ENDING_SECONDS = 5;

    private final EventLoop taken;
    private final Maker maker;
    private final Promise<Object> bothEnded = new DefaultPromise<>(GlobalEventExecutor.INSTANCE);
    /** {@code null} as long as nobody needs it. Guarded by this object, as is what follows. */
    private EventLoop loop;
    private boolean ending;

    /** @param taken the one of the transport's, which need not be complete yet */
    LoopBeside(EventLoop taken, Maker maker) {
        this.taken = taken;
        this.maker = maker;
    }

    /**
     * Made if need be, and if the loops end already, an ended one: Netty itself refuses a channel then, as without the agent.
     *
     * @throws RejectedExecutionException if none can be made
     */
    synchronized EventLoop get() {
        if (loop == null) {
            loop = ending ? makeEnded() : make();
        }
        return loop;
    }

    private EventLoop make() {
        try {
            return maker.make(taken);
        } catch (Exception e) {
            logger.debug("There is no event loop for a channel that the UCX transport does not take.", e);
            throw new RejectedExecutionException("failed to make an event loop for a channel that the UCX transport"
                    + " does not take", e);
        }
    }

    private EventLoop makeEnded() {
        EventLoop made = make();
        made.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        try {
            if (made.awaitTermination(ENDING_SECONDS, TimeUnit.SECONDS)) {
                return made;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new RejectedExecutionException("event loop shut down");
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

    /**
     * The other one has ended, perhaps without having been told to.
     *
     * @param end its end, which Netty fails with the error that has ended the loop, if one has
     */
    void otherHasEnded(Future<?> end) {
        EventLoop ended = endWithOther();
        if (ended == null) {
            tell(end);
        } else {
            ended.terminationFuture().addListener(own -> tell(end.isSuccess() ? own : end));
        }
    }

    private void tell(Future<?> end) {
        if (end.isSuccess()) {
            bothEnded.setSuccess(null);
        } else {
            bothEnded.setFailure(end.cause());
        }
    }

    private EventLoop endWithOther() {
        EventLoop ended = end();
        if (ended != null && !ended.isShuttingDown()) {
            ended.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
        return ended;
    }

    /** Whether both have ended, when the other one has. Not by {@link #bothEnded()}, which is told a little later. */
    boolean hasEnded() {
        EventLoop ended = endWithOther();
        return ended == null || ended.isTerminated();
    }

    /**
     * Waits for this one, when the other one has ended. Not for {@link #bothEnded()}: the thread that tells it must not wait
     * for it, and may wait for loops.
     */
    boolean awaitTermination(long nanos) throws InterruptedException {
        EventLoop ended = endWithOther();
        return ended == null || ended.awaitTermination(nanos, TimeUnit.NANOSECONDS);
    }
}
