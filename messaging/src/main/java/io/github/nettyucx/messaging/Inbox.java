// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

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

    private final Executor executor;
    private final ConcurrentLinkedQueue<Work> inOrder = new ConcurrentLinkedQueue<>();
    private final AtomicInteger queued = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile Connection paused;

    Inbox(Executor executor) {
        this.executor = executor;
    }

    /** @param connection that the message has come by, on its loop */
    void add(Work message, boolean ordered, Connection connection) {
        if (waiting.incrementAndGet() >= LIMIT) {
            paused = connection;
            connection.pauseReading(true);
            if (waiting.get() < LIMIT / 2) {
                resume();
            }
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
        if (waiting.decrementAndGet() < LIMIT / 2 && paused != null) {
            resume();
        }
    }

    private void resume() {
        Connection connection = paused;
        paused = null;
        if (connection != null) {
            connection.pauseReading(false);
        }
    }
}
