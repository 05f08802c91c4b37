// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.function.BiConsumer;

/**
 * Collects what is to be looked at, and has a thread of its own look at all of it at once, some time later. The thread
 * ends when nothing more has come.
 *
 * @param <T> what is to be looked at
 */
final class LateLook<T> {

    /** Looks at all of them. */
    interface Look<T> {
        void at(Set<T> elements) throws IOException;
    }

    private final ThreadFactory threads;
    private final long pauseMillis;
    private final Look<T> look;
    private final BiConsumer<Set<T>, Throwable> failure;
    /** Not looked at yet; its own lock. */
    private final Set<T> waiting = new HashSet<>();
    /** The one that will look, or {@code null}. Guarded by the same lock. */
    private Thread looking;

    /**
     * @param pauseMillis between two looks, and before the first
     * @param failure     is told of those that have not been looked at, and why
     */
    LateLook(ThreadFactory threads, long pauseMillis, Look<T> look, BiConsumer<Set<T>, Throwable> failure) {
        this.threads = threads;
        this.pauseMillis = pauseMillis;
        this.look = look;
        this.failure = failure;
    }

    /** Any thread; returns at once, and does not fail where the process can have no more threads. */
    void add(T element) {
        Set<T> missed;
        Throwable cause;
        synchronized (waiting) {
            waiting.add(element);
            if (looking != null) {
                return;
            }
            try {
                looking = threads.newThread(this::lookWhileThereAreNew);
                looking.start();
                return;
            } catch (Throwable t) {
                // An OutOfMemoryError, for one. Nobody looks now; the next to be added starts another thread.
                looking = null;
                missed = takeAll();
                cause = t;
            }
        }
        failure.accept(missed, cause);
    }

    private void lookWhileThereAreNew() {
        try {
            for (Set<T> elements = await(); elements != null; elements = await()) {
                try {
                    look.at(elements);
                } catch (IOException | RuntimeException e) {
                    failure.accept(elements, e);
                }
            }
        } catch (InterruptedException e) {
            // By nobody of ours: the next to be added starts another thread.
        } finally {
            ended();
        }
    }

    /** @return {@code null} if there are none, and this thread is to end */
    private Set<T> await() throws InterruptedException {
        Thread.sleep(pauseMillis);
        synchronized (waiting) {
            if (waiting.isEmpty()) {
                // Under the same lock: whoever comes now starts another thread.
                ended();
                return null;
            }
            return takeAll();
        }
    }

    private void ended() {
        synchronized (waiting) {
            if (looking == Thread.currentThread()) {
                looking = null;
            }
        }
    }

    private Set<T> takeAll() {
        Set<T> all = new HashSet<>(waiting);
        waiting.clear();
        return all;
    }
}
