// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What fails once is no end of it. */
@Timeout(30)
class LateLookTest {

    private static final long PAUSE_MILLIS = 20;

    private final BlockingQueue<Set<String>> seen = new LinkedBlockingQueue<>();
    private final BlockingQueue<Set<String>> missed = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> causes = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> uncaught = new LinkedBlockingQueue<>();
    private final AtomicInteger threads = new AtomicInteger();
    /** What the next looks throw. */
    private final Queue<Throwable> toThrow = new ArrayDeque<>();
    private Error startFailure;
    private final LateLook<String> late = new LateLook<>(this::newThread, PAUSE_MILLIS, this::look, this::miss);

    private Thread newThread(Runnable task) {
        threads.incrementAndGet();
        Error failure = startFailure;
        Thread thread = new Thread(task) {
            @Override
            public void start() {
                if (failure != null) {
                    throw failure;
                }
                super.start();
            }
        };
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler((which, cause) -> uncaught.add(cause));
        return thread;
    }

    private synchronized void look(Set<String> elements) throws IOException {
        switch (toThrow.poll()) {
            case IOException e -> throw e;
            case Error e -> throw e;
            case null, default -> seen.add(elements);
        }
    }

    private void miss(Set<String> elements, Throwable cause) {
        missed.add(elements);
        causes.add(cause);
    }

    private synchronized void throwNext(Throwable... failures) {
        toThrow.addAll(List.of(failures));
    }

    @Test
    void allOfAPauseAreLookedAtOnce() throws InterruptedException {
        late.add("one");
        late.add("other");
        assertEquals(Set.of("one", "other"), seen.take());
        assertEquals(1, threads.get());
    }

    @Test
    void aThreadThatCannotBeStartedIsTriedAgain() throws InterruptedException {
        startFailure = new OutOfMemoryError("unable to create native thread");
        late.add("one");
        late.add("other");
        assertEquals(Set.of("one"), missed.take());
        assertEquals(Set.of("other"), missed.take());
        assertSame(startFailure, causes.take());
        startFailure = null;
        late.add("third");
        assertEquals(Set.of("third"), seen.take());
    }

    @Test
    void anExceptionIsToldAndTheNextAreLookedAt() throws InterruptedException {
        throwNext(new IOException("thrown on purpose"));
        late.add("one");
        assertEquals(Set.of("one"), missed.take());
        assertTrue(causes.take() instanceof IOException);
        late.add("other");
        assertEquals(Set.of("other"), seen.take());
    }

    @Test
    void afterAnErrorThereIsAnotherThread() throws InterruptedException {
        Error error = new AssertionError("thrown on purpose");
        throwNext(error);
        late.add("one");
        assertSame(error, uncaught.take());
        late.add("other");
        assertEquals(Set.of("other"), seen.take());
        assertEquals(2, threads.get());
    }
}
