// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What a worker looks at every second. */
final class PeriodicLooks {

    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final List<EverySecond> tasks = new ArrayList<>();
    private long nextNanos;

    /** @param now as {@link System#nanoTime()} tells it */
    void add(EverySecond task, long now) {
        if (tasks.isEmpty()) {
            nextNanos = now + SECOND_NANOS;
        }
        tasks.add(task);
    }

    boolean isEmpty() {
        return tasks.isEmpty();
    }

    /** @param now as {@link System#nanoTime()} tells it */
    void run(long now) {
        if (!tasks.isEmpty() && now - nextNanos >= 0) {
            nextNanos = now + SECOND_NANOS;
            tasks.removeIf(task -> !looksAgain(task));
        }
    }

    private static boolean looksAgain(EverySecond task) {
        try {
            return task.look();
        } catch (OutOfMemoryError e) {
            ProgressEngine.log(e);
            return true;
        } catch (RuntimeException e) {
            ProgressEngine.log(e);
            return false;
        }
    }
}
