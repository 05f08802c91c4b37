// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/** Messages of one sender that are handled by the node's executor. */
final class Inbox {

    /** When so many wait, nothing more is read from the sender; when half of them do, it is again. */
    static final int LIMIT = 4096;
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

        /** Any thread may call. */
        void pauseReading(boolean paused);
    }

    private final Executor executor;
    private final ConcurrentLinkedQueue<Work> inOrder = new ConcurrentLinkedQueue<>();
    private final AtomicInteger queued = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    /** With the lock: two nodes may have two connections. */
    private final Set<Source> paused = new HashSet<>();
    private volatile boolean isPaused;

    Inbox(Executor executor) {
        this.executor = executor;
    }

    /** @param source where the message has come from; on its loop */
    void add(Work message, boolean ordered, Source source) {
        if (waiting.incrementAndGet() >= LIMIT) {
            pause(source);
        }
        if (ordered) {
            inOrder.add(message);
            if (queued.getAndIncrement() == 0) {
                executeInOrder();
            }
            return;
        }
        try {
            executor.execute(() -> {
                message.handle();
                done();
            });
        } catch (RejectedExecutionException e) {
            message.reject(e);
            done();
        }
    }

    private void executeInOrder() {
        try {
            executor.execute(this::run);
        } catch (RejectedExecutionException e) {
            // Nobody else takes what has been queued, and what comes meanwhile.
            do {
                inOrder.poll().reject(e);
                done();
            } while (queued.decrementAndGet() != 0);
        }
    }

    private void run() {
        for (int i = 0; i < BATCH; i++) {
            inOrder.poll().handle();
            done();
            if (queued.decrementAndGet() == 0) {
                return;
            }
        }
        // Others have their turn.
        executeInOrder();
    }

    private void done() {
        if (waiting.decrementAndGet() < LIMIT / 2 && isPaused) {
            resume();
        }
    }

    private synchronized void pause(Source source) {
        if (paused.add(source)) {
            source.pauseReading(true);
        }
        isPaused = true;
        // Whoever is done from here on sees that it is paused; who was before, we see.
        if (waiting.get() < LIMIT / 2) {
            resume();
        }
    }

    private synchronized void resume() {
        isPaused = false;
        paused.forEach(source -> source.pauseReading(false));
        paused.clear();
    }
}
