// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;

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
}
