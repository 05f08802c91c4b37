// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Messages of one sender that are handled by the node's executor. */
final class Inbox {

    /**
     * When so many wait, nothing more is read from the sender; when half of them do, it is again. So many more are read when
     * a handler {@linkplain #handlerWaits() waits}.
     */
    static final int LIMIT = 4096;
    /** So long nothing is read while a handler waits. */
    static final long STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** In one go of one sender. */
    private static final int BATCH = 64;

    /** A message and its handler. None of these throws. */
    interface Work {

        /** Calls the handler, and releases the message. */
        void handle();

        /** The executor does not take it: tells so, and releases the message. */
        void reject(RejectedExecutionException cause);
    }

    /** Where messages come from: what is paused gives nothing more, but for what has been read already. */
    interface Source {

        /** Any thread may call, also when nothing can come any more. Throws nothing. */
        void pauseReading(boolean paused);
    }

    /** Of the thread, while it calls a handler. */
    private static final ThreadLocal<Executor> HANDLING = new ThreadLocal<>();
    /** From whose senders nothing is read. */
    private static final Set<Inbox> PAUSED = ConcurrentHashMap.newKeySet();

    private final Executor executor;
    private final ConcurrentLinkedQueue<Work> inOrder = new ConcurrentLinkedQueue<>();
    private final AtomicInteger queued = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    /** With the lock: two nodes may have two connections. */
    private final Set<Source> paused = new HashSet<>();
    private long pausedNanos;
    /** Has reached {@link #LIMIT}, and not half of it since. */
    private volatile boolean isOver;
    private volatile int limit = LIMIT;

    Inbox(Executor executor) {
        this.executor = executor;
    }

    /** @param source where the message has come from; on its loop */
    void add(Work message, boolean ordered, Source source) {
        if (waiting.incrementAndGet() >= limit) {
            pause(source);
        }
        if (ordered) {
            inOrder.add(message);
            if (queued.getAndIncrement() == 0) {
                executeInOrder();
            }
            return;
        }
        new Task() {
            @Override
            void perform() {
                Executor outer = enter();
                try {
                    message.handle();
                } finally {
                    HANDLING.set(outer);
                }
                done();
            }

            @Override
            void rejected(RejectedExecutionException cause) {
                message.reject(cause);
                done();
            }
        }.submit();
    }

    /**
     * What the executor is given. Whatever that throws, it may have queued it nevertheless, and perform it later: it is either
     * performed or rejected, once.
     */
    private abstract class Task extends AtomicBoolean implements Runnable {

        void submit() {
            try {
                executor.execute(this);
            } catch (Throwable e) {
                if (claim()) {
                    rejected(e instanceof RejectedExecutionException rejected ? rejected
                            : new RejectedExecutionException(e));
                } else {
                    Node.LOGGER.warn("The executor has thrown, though it has taken what it was given.", e);
                }
            }
        }

        @Override
        public void run() {
            if (claim()) {
                perform();
            }
        }

        private boolean claim() {
            return compareAndSet(false, true);
        }

        abstract void perform();

        abstract void rejected(RejectedExecutionException cause);
    }

    private void executeInOrder() {
        new Task() {
            @Override
            void perform() {
                performInOrder();
            }

            @Override
            void rejected(RejectedExecutionException cause) {
                // Nobody else takes what has been queued, and what comes meanwhile.
                do {
                    inOrder.poll().reject(cause);
                    done();
                } while (queued.decrementAndGet() != 0);
            }
        }.submit();
    }

    private void performInOrder() {
        Executor outer = enter();
        int left = BATCH;
        try {
            do {
                inOrder.poll().handle();
                done();
            } while (queued.decrementAndGet() != 0 && --left > 0);
        } finally {
            HANDLING.set(outer);
        }
        if (left == 0) {
            // Others have their turn.
            executeInOrder();
        }
    }

    /** @return what the thread was before: a pool may have a thread that waits handle something else */
    private Executor enter() {
        Executor outer = HANDLING.get();
        HANDLING.set(executor);
        return outer;
    }

    private void done() {
        if (waiting.decrementAndGet() < LIMIT / 2 && isOver) {
            resume();
        }
    }

    private synchronized void pause(Source source) {
        if (paused.isEmpty()) {
            pausedNanos = System.nanoTime();
            PAUSED.add(this);
        }
        if (paused.add(source)) {
            source.pauseReading(true);
        }
        isOver = true;
        // Whoever is done from here on sees that it is paused; who was before, we see.
        if (waiting.get() < LIMIT / 2) {
            resume();
        }
    }

    private synchronized void resume() {
        isOver = false;
        limit = LIMIT;
        read();
    }

    private void read() {
        PAUSED.remove(this);
        paused.forEach(source -> source.pauseReading(false));
        paused.clear();
    }

    /** Whether the calling thread calls a handler. */
    static boolean isHandling() {
        return HANDLING.get() != null;
    }

    /**
     * A handler has waited, for room in a ring or for a response, and goes on waiting. What it waits for may lie behind
     * messages that are not read because this thread does not handle them; or behind those of somebody who waits in the same
     * way for this node to read. So more of them are read, of everybody whose messages wait for the same pool.
     */
    static void handlerWaits() {
        Executor waiting = HANDLING.get();
        for (Inbox inbox : PAUSED) {
            if (inbox.executor == waiting) {
                inbox.readMore();
            }
        }
    }

    private synchronized void readMore() {
        if (!paused.isEmpty() && System.nanoTime() - pausedNanos >= STALL_NANOS) {
            limit = waiting.get() + LIMIT;
            read();
        }
    }

    /** Nobody waits for what this node reads any more. */
    void close() {
        PAUSED.remove(this);
    }
}
