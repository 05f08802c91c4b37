// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** When reading is paused, and that it is resumed, with the pool's threads at the worst moments. */
class InboxTest {

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final Inbox inbox = new Inbox(tasks::add);
    private int handled;

    private class Source implements Inbox.Source {

        private boolean isReading = true;
        private Runnable beforePause = () -> { };

        @Override
        public void pauseReading(boolean paused) {
            if (paused) {
                beforePause.run();
            }
            isReading = !paused;
        }
    }

    private void add(int count, boolean ordered, Source source) {
        for (int i = 0; i < count; i++) {
            inbox.add(new Inbox.Work() {
                @Override
                public void handle() {
                    handled++;
                }

                @Override
                public void reject(RejectedExecutionException cause) {
                    throw new AssertionError(cause);
                }
            }, ordered, source);
        }
    }

    private void runAll() {
        for (Runnable task; (task = tasks.poll()) != null;) {
            task.run();
        }
    }

    @Test
    void readingIsPausedAtTheLimitAndResumedAtHalfOfIt() {
        var source = new Source();
        add(Inbox.LIMIT - 1, false, source);
        assertTrue(source.isReading);
        add(1, false, source);
        assertFalse(source.isReading);
        while (handled < Inbox.LIMIT / 2) {
            assertFalse(source.isReading);
            tasks.remove().run();
        }
        tasks.remove().run();
        assertTrue(source.isReading);
        runAll();
        assertEquals(Inbox.LIMIT, handled);
    }

    /** There is nobody left then who would resume it. */
    @Test
    void readingGoesOnThoughThePoolIsDoneBeforeReadingIsPaused() {
        for (boolean ordered : new boolean[] {false, true}) {
            var source = new Source();
            source.beforePause = this::runAll;
            add(Inbox.LIMIT, ordered, source);
            runAll();
            assertTrue(source.isReading);
        }
    }

    @Test
    void bothConnectionsOfASenderAreResumed() {
        var one = new Source();
        var other = new Source();
        add(Inbox.LIMIT, false, one);
        add(1, true, other);
        assertFalse(one.isReading);
        assertFalse(other.isReading);
        runAll();
        assertTrue(one.isReading);
        assertTrue(other.isReading);
    }

    /** As {@link java.util.concurrent.ForkJoinPool} does: it has queued the task before it finds that it can make no thread. */
    private static final class OutOfThreads implements Executor {

        private final List<Runnable> tasks = new ArrayList<>();
        private final Throwable thrown;
        private boolean isOut = true;

        OutOfThreads(Throwable thrown) {
            this.thrown = thrown;
        }

        OutOfThreads() {
            this(new OutOfMemoryError("unable to create native thread"));
        }

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
            if (isOut) {
                PoolTest.rethrow(thrown);
            }
        }
    }

    /** An executor may be anybody's. */
    private static Stream<Throwable> failures() {
        return Stream.of(new OutOfMemoryError("unable to create native thread"), new RejectedExecutionException("full"),
                new IllegalStateException("stopped"), new NoClassDefFoundError("a/Worker"), new IOException("of the pool's"));
    }

    private static class Counted implements Inbox.Work {

        private final AtomicInteger handled = new AtomicInteger();
        private final AtomicInteger rejected = new AtomicInteger();

        @Override
        public void handle() {
            handled.incrementAndGet();
        }

        @Override
        public void reject(RejectedExecutionException cause) {
            rejected.incrementAndGet();
        }

        private String ends() {
            return handled + " handled, " + rejected + " rejected";
        }
    }

    @ParameterizedTest
    @MethodSource("failures")
    void aMessageOfWhichTheExecutorHasSaidThatItTakesItNotIsNotHandledWhenItDoes(Throwable failure) {
        for (boolean ordered : new boolean[] {false, true}) {
            var executor = new OutOfThreads(failure);
            var outOfThreads = new Inbox(executor);
            var messages = new Counted[] {new Counted(), new Counted(), new Counted()};
            outOfThreads.add(messages[0], ordered, new Source());
            outOfThreads.add(messages[1], ordered, new Source());
            executor.isOut = false;
            outOfThreads.add(messages[2], ordered, new Source());
            executor.tasks.forEach(Runnable::run);
            assertEquals("0 handled, 1 rejected", messages[0].ends());
            assertEquals("0 handled, 1 rejected", messages[1].ends());
            assertEquals("1 handled, 0 rejected", messages[2].ends());
        }
    }

    /** As one that does it at once, and fails behind it. */
    @ParameterizedTest
    @MethodSource("failures")
    void aMessageThatIsHandledBeforeTheExecutorThrowsIsNotRejected(Throwable failure) {
        for (boolean ordered : new boolean[] {false, true}) {
            var throwing = new Inbox(task -> {
                task.run();
                PoolTest.rethrow(failure);
            });
            var messages = new Counted[] {new Counted(), new Counted()};
            for (Counted message : messages) {
                throwing.add(message, ordered, new Source());
                assertEquals("1 handled, 0 rejected", message.ends());
            }
        }
    }

    /** The executor is asked again by one of its own threads, when others have had their turn. */
    @ParameterizedTest
    @MethodSource("failures")
    void whatIsLeftOfABatchIsRejectedIfTheExecutorThrowsThen(Throwable failure) {
        var executor = new OutOfThreads(failure);
        executor.isOut = false;
        var throwing = new Inbox(executor);
        var messages = new ArrayList<Counted>();
        for (int i = 0; i < 200; i++) {
            messages.add(new Counted());
            throwing.add(messages.get(i), true, new Source());
        }
        executor.isOut = true;
        executor.tasks.getFirst().run();
        assertEquals("1 handled, 0 rejected", messages.getFirst().ends());
        assertEquals("0 handled, 1 rejected", messages.getLast().ends());
        assertTrue(messages.stream().allMatch(message -> message.handled.get() + message.rejected.get() == 1));
        executor.isOut = false;
        var later = new Counted();
        throwing.add(later, true, new Source());
        executor.tasks.forEach(Runnable::run);
        assertEquals("1 handled, 0 rejected", later.ends());
        assertTrue(messages.stream().allMatch(message -> message.handled.get() + message.rejected.get() == 1));
    }

    /** The task that the executor has said not to take must not be a second one for what comes later. */
    @Test
    void messagesInOrderAreNotHandledAtTheSameTimeThough() {
        var executor = new OutOfThreads();
        var outOfThreads = new Inbox(executor);
        outOfThreads.add(new Counted(), true, new Source());
        executor.isOut = false;
        var events = new ArrayList<String>();
        Inbox.Work first = new Counted() {
            @Override
            public void handle() {
                events.add("first begins");
                // Another thread of the pool's, in the middle of it.
                executor.tasks.getFirst().run();
                events.add("first ends");
            }
        };
        Inbox.Work second = new Counted() {
            @Override
            public void handle() {
                events.add("second");
            }
        };
        outOfThreads.add(first, true, new Source());
        outOfThreads.add(second, true, new Source());
        executor.tasks.getLast().run();
        assertEquals(List.of("first begins", "first ends", "second"), events);
    }
}
