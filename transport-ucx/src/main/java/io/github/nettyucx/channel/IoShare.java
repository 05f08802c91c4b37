// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.util.concurrent.TimeUnit;

/**
 * The part of a loop's time that input and output has where tasks never end: as much as they. One turn takes what UCX brings
 * at once, and no more. That is little beside tasks of a millisecond. Netty's epoll and NIO share their time in the same way:
 * their {@code ioRatio} is 50 by default.
 *
 * <p>The clock is not read before tasks have remained twice: most loops have run all of theirs when their next turn begins.
 */
final class IoShare {

    /** Tasks that take a moment do not wait for a look at UCX each time. */
    private static final long LEAST_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
    /** Tasks and timers do not wait for longer, whatever they have taken. */
    private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /**
     * For how long of its time, as a power of two, input and output looks for more when some has come: peers that wait for
     * this loop, for room or for windows, need a moment to go on.
     */
    private static final int GAP_SHIFT = 4;
    /** A loop that waits for room in its peer's queue naps for a millisecond at most. */
    private static final long LONGEST_GAP_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private boolean tasksRemained;
    /** Whether it is known when tasks began. */
    private boolean tasksBegan;
    private long tasksBeganNanos;
    private long turnsBeganNanos;
    private long shareNanos;
    /** Whether any turn has done something, and when the last of them ended. */
    private boolean worked;
    private long workedNanos;

    /** @param tasksRemain whether there are tasks, although the loop has run some since {@link #turnsEnd} */
    void turnsBegin(boolean tasksRemain) {
        shareNanos = 0;
        if (tasksRemain && tasksBegan) {
            turnsBeganNanos = System.nanoTime();
            shareNanos = Math.min(MOST_NANOS, turnsBeganNanos - tasksBeganNanos);
        }
        tasksRemained = tasksRemain;
        tasksBegan = false;
        worked = false;
    }

    /**
     * Whether another turn may follow, before the next tasks.
     *
     * @param work what the last turn has done
     */
    boolean isLeft(int work) {
        if (shareNanos == 0 || work == 0 && !worked) {
            return false;
        }
        long now = System.nanoTime();
        if (work != 0) {
            worked = true;
            workedNanos = now;
        }
        return now - turnsBeganNanos < shareNanos
                && now - workedNanos <= Math.min(LONGEST_GAP_NANOS, shareNanos >> GAP_SHIFT);
    }

    void turnsEnd() {
        if (tasksRemained) {
            tasksBegan = true;
            tasksBeganNanos = System.nanoTime();
        }
    }

    /** Whether tasks have taken so much time that a turn is worth it. */
    boolean isDue() {
        return System.nanoTime() - tasksBeganNanos >= LEAST_NANOS;
    }
}
