// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * The event loops that the tests run on: those of a {@link UcxEventLoopGroup}, unless the property
 * {@value #PROPERTY} names a subclass that makes others.
 */
public abstract class TestLoops {

    static final String PROPERTY = "io.github.nettyucx.test.loops";

    /** Many times the least time for which a loop sets its timer. */
    private static final long LONG_MILLIS = 300;

    private static final TestLoops INSTANCE = find();

    private static TestLoops find() {
        String name = System.getProperty(PROPERTY, "");
        try {
            return name.isEmpty() ? new OfGroup()
                    : (TestLoops) Class.forName(name).getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("system property " + PROPERTY + " is " + name, e);
        }
    }

    private static final class OfGroup extends TestLoops {

        @Override
        protected EventLoopGroup make(int threads, ThreadFactory factory) {
            return new UcxEventLoopGroup(threads, factory);
        }

        @Override
        protected EventLoopGroup make(int threads, UcxWaitStrategy waitStrategy) {
            return new UcxEventLoopGroup(threads, waitStrategy);
        }

        @Override
        protected IoDriver find(EventLoop loop) {
            return ((UcxEventLoop) loop).driver();
        }
    }

    protected abstract EventLoopGroup make(int threads, ThreadFactory factory);

    protected abstract EventLoopGroup make(int threads, UcxWaitStrategy waitStrategy);

    /** The driver of one of its loops; {@code null} for other loops. */
    protected abstract IoDriver find(EventLoop loop);

    /** @param threads how many loops; 0 for the default number */
    public static EventLoopGroup newGroup(int threads) {
        return INSTANCE.make(threads, (ThreadFactory) null);
    }

    public static EventLoopGroup newGroup(int threads, ThreadFactory factory) {
        return INSTANCE.make(threads, factory);
    }

    static EventLoopGroup newGroup(int threads, UcxWaitStrategy waitStrategy) {
        return INSTANCE.make(threads, waitStrategy);
    }

    /** What drives a loop. The driver belongs to the loop's thread. */
    public static IoDriver driver(EventLoop loop) {
        return Objects.requireNonNull(INSTANCE.find(loop), () -> "not a loop of a test: " + loop);
    }

    /** The same, of the first loop of a group. */
    public static EventLoop first(EventLoopGroup group) {
        return (EventLoop) group.iterator().next();
    }

    /**
     * Lets each loop sleep for long. Whether it has until then is chance, and it opens its timer, a descriptor that it
     * keeps, when it first does: descriptors that are counted before would be too few.
     */
    static void openTimers(EventLoopGroup... groups) throws Exception {
        List<Future<?>> sleeps = new ArrayList<>();
        for (EventLoopGroup group : groups) {
            for (EventExecutor loop : group) {
                sleeps.add(loop.schedule(() -> { }, LONG_MILLIS, TimeUnit.MILLISECONDS));
            }
        }
        for (Future<?> sleep : sleeps) {
            sleep.get();
        }
    }
}
