// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.worker.IntSetting;
import io.github.nettyucx.worker.ProgressEngine;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Closes in good order the channels that are still open when the application ends its JVM. A kernel delivers what a
 * socket's write has taken even when the process has ended; with UCX it is lost with the process.
 * <p>
 * It is a shutdown hook, for ends that the application itself has chosen: {@code System.exit}, and the return from
 * {@code main} when all other threads are daemons. When a signal has ended the JVM, hooks of the application may still
 * use its channels, which are then left to them; only those are waited for that have been closed before. On lane
 * {@code socket} it is so in any case.
 */
final class OrderlyExit extends Thread {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(OrderlyExit.class);

    static final String TIMEOUT_PROPERTY = "io.github.nettyucx.exitTimeoutMillis";
    private static final int DEFAULT_TIMEOUT_MILLIS = 2000;
    static final IntSetting TIMEOUT_SETTING =
            IntSetting.of(TIMEOUT_PROPERTY, DEFAULT_TIMEOUT_MILLIS, 0, Integer.MAX_VALUE, "milliseconds");
    private static final long TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(TIMEOUT_SETTING.value());
    /** What its beginning may take more, on a machine that is busy. */
    private static final long SLACK_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    static final Set<UcxSocketChannel> channels = ConcurrentHashMap.newKeySet();

    private static volatile boolean begun;
    /** Guarded by the class, as the hook is that stands for them. */
    private static int loops;
    private static OrderlyExit hook;

    private final CountDownLatch over = new CountDownLatch(1);
    private boolean bySignal;
    private long deadlineNanos;

    private OrderlyExit() {
        // Nothing of the application's whose thread it is, which may go before the JVM does.
        super(null, null, "netty-ucx-exit", 0, false);
        setContextClassLoader(null);
    }

    /**
     * Whether the JVM is ending. Then a close is done when the peer has been told, as there may be no background any more.
     * From any thread.
     */
    static boolean hasBegun() {
        return begun;
    }

    /** A loop begins that may have channels. From any thread. */
    static synchronized void loopBegins() {
        loops++;
        if (hook == null && TIMEOUT_NANOS > 0) {
            try {
                OrderlyExit added = new OrderlyExit();
                Runtime.getRuntime().addShutdownHook(added);
                hook = added;
            } catch (IllegalStateException e) {
                logger.debug("The JVM is ending already: channels are not closed by it.", e);
            }
        }
    }

    /** One that has begun has ended. With the last one the hook goes, which would hold the transport's class loader. */
    static synchronized void loopEnds() {
        loops--;
        if (loops == 0 && hook != null) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
                hook = null;
            } catch (IllegalStateException e) {
                // The JVM is ending.
            }
        }
    }

    /** Waits until it is done, but not for ever. For another shutdown hook, as it is the end of the JVM that has it done. */
    static void await() throws InterruptedException {
        OrderlyExit added;
        synchronized (OrderlyExit.class) {
            added = hook;
        }
        if (added != null) {
            added.over.await(TIMEOUT_NANOS + SLACK_NANOS, TimeUnit.NANOSECONDS);
        }
    }

    /** Of an open channel. From any thread. */
    static void add(UcxSocketChannel channel) {
        channels.add(channel);
    }

    /** Of a channel that is closed, and has nobody to tell any more. From any thread. */
    static void remove(UcxSocketChannel channel) {
        channels.remove(channel);
    }

    /**
     * On the thread that ends the JVM. That may be an event loop's: then its channels can be closed only from here. Nothing
     * must be thrown here, also where memory is short: the JVM would leave the hooks that it has not started yet.
     */
    @Override
    public void start() {
        begun = true;
        deadlineNanos = System.nanoTime() + TIMEOUT_NANOS;
        try {
            bySignal = StackWalker.getInstance().walk(frames ->
                    frames.anyMatch(frame -> frame.getClassName().startsWith("java.lang.Terminator")));
            if (!bySignal) {
                closeOwn();
            }
        } catch (Throwable e) {
            tell(e);
        } finally {
            super.start();
        }
    }

    private static void tell(Throwable cause) {
        try {
            logger.warn("Failed to close the channels of the loop that has ended the JVM.", cause);
        } catch (Throwable e) {
            // The memory that the one needed the other needs as well.
        }
    }

    private void closeOwn() {
        List<UcxSocketChannel> own = new ArrayList<>();
        Set<ProgressEngine> engines = new LinkedHashSet<>();
        for (UcxSocketChannel channel : channels) {
            if (channel.eventLoop().inEventLoop() && !isLeftToApplication(channel)) {
                own.add(channel);
                engines.add(channel.loop().engine());
            }
        }
        // The calls from which the JVM is ended do not return.
        own.forEach(UcxSocketChannel::resumeWriting);
        own.forEach(UcxSocketChannel::closeAtExit);
        while (System.nanoTime() - deadlineNanos < 0 && !own.stream().allMatch(UcxSocketChannel::isOver)) {
            int work = 0;
            for (ProgressEngine engine : engines) {
                work += engine.poll();
            }
            if (work == 0) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /** Hooks may still use it, and nothing of it is lost if it is not closed; or they do what there is to do. */
    private boolean isLeftToApplication(UcxSocketChannel channel) {
        return channel.isActive() && (bySignal || LaneKind.SOCKET.toString().equals(channel.lane()));
    }

    @Override
    public void run() {
        try {
            closeAll();
        } finally {
            over.countDown();
        }
    }

    /**
     * Has a channel's loop close it, or leave it to the application.
     *
     * @return whether the loop knows, or has ended; one that has no room for a task now may have some in a moment
     */
    private boolean isTold(UcxSocketChannel channel, Set<UcxSocketChannel> left) {
        try {
            channel.eventLoop().execute(() -> {
                if (isLeftToApplication(channel)) {
                    left.add(channel);
                } else {
                    channel.unsafe().close(channel.unsafe().voidPromise());
                }
            });
            return true;
        } catch (RuntimeException e) {
            // Whoever rejects its tasks is the application's, and may throw what it likes.
            boolean ended = !channel.isRegistered() || channel.eventLoop().isShutdown();
            if (ended) {
                logger.debug("{} has no event loop any more.", channel, e);
                left.add(channel);
            }
            return ended;
        }
    }

    private void closeAll() {
        List<UcxSocketChannel> closing = new ArrayList<>(channels);
        // Of an active one only its loop knows whether the application has closed it already, behind what the loop still does.
        closing.removeIf(channel -> !bySignal && isLeftToApplication(channel));
        Set<UcxSocketChannel> left = ConcurrentHashMap.newKeySet();
        List<UcxSocketChannel> untold = new ArrayList<>(closing);
        for (;;) {
            untold.removeIf(channel -> isTold(channel, left));
            closing.removeIf(channel -> channel.isOver() || left.contains(channel));
            if (closing.isEmpty() || System.nanoTime() - deadlineNanos >= 0) {
                break;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        // Of one that is active still nobody knows whether it is to be closed: its loop has not answered.
        closing.removeIf(this::isLeftToApplication);
        int cut = closing.size();
        if (cut > 0) {
            logger.warn("{} connections are cut by the end of the JVM: their peers have not taken everything within {} ms.",
                    cut, TimeUnit.NANOSECONDS.toMillis(TIMEOUT_NANOS));
        }
    }
}
