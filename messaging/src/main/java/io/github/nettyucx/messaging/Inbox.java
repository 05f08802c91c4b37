// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/** Messages of one sender that are handled by the node's executor. */
final class Inbox {

    /** When so many wait, nothing more is read from the sender; when half of them do, it is again. */
    static final int LIMIT = 4096;
    /** In one go of one sender. */
    private static final int BATCH = 64;

    private final Executor executor;
    private final ConcurrentLinkedQueue<Runnable> inOrder = new ConcurrentLinkedQueue<>();
    private final AtomicInteger queued = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    private volatile Connection paused;

    Inbox(Executor executor) {
        this.executor = executor;
    }

    /** @param connection that the message has come by, on its loop */
    void add(Runnable message, boolean ordered, Connection connection) {
        if (waiting.incrementAndGet() >= LIMIT) {
            paused = connection;
            connection.pauseReading(true);
            if (waiting.get() < LIMIT / 2) {
                resume();
            }
        }
        if (!ordered) {
            executor.execute(() -> {
                try {
                    message.run();
                } finally {
                    done();
                }
            });
            return;
        }
        inOrder.add(message);
        if (queued.getAndIncrement() == 0) {
            executor.execute(this::run);
        }
    }

    private void run() {
        for (int i = 0; i < BATCH; i++) {
            try {
                inOrder.poll().run();
            } finally {
                done();
                if (queued.decrementAndGet() == 0) {
                    return;
                }
            }
        }
        // Others have their turn.
        executor.execute(this::run);
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
