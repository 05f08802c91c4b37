// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.util.concurrent.TimeUnit;

/**
 * The part of a loop's time that input and output has where tasks never end, or take long: as much as they. One turn takes
 * what UCX brings at once, and no more. That is little beside tasks of a millisecond. The epoll and NIO loops of Netty 4.1
 * share their time in the same way: their {@code ioRatio} is 50 by default.
 *
 * <p>The clock is read for every eighth time that tasks are run, and then each time, as long as they remain or take long.
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
    /** Tasks that take less in all need no more than one turn, unless they remain: there is not much to take after them. */
    private static final long LONG_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
    /** How often it is looked how long tasks take. */
    private static final int RUNS_PER_LOOK = 8;

    /** Whether tasks remained when the last turns began, or had taken long. */
    private boolean lasting;
    private int runsToLook = RUNS_PER_LOOK;
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
        lasting = tasksRemain;
        if (tasksBegan) {
            turnsBeganNanos = System.nanoTime();
            long taskNanos = turnsBeganNanos - tasksBeganNanos;
            lasting |= taskNanos >= LONG_NANOS;
            if (lasting) {
                shareNanos = Math.min(MOST_NANOS, taskNanos);
            }
        }
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

    /** @param tasksFollow whether there are tasks, or timers that are due, as far as is known */
    void turnsEnd(boolean tasksFollow) {
        if (tasksFollow && (lasting || --runsToLook == 0)) {
            runsToLook = RUNS_PER_LOOK;
            tasksBegan = true;
            tasksBeganNanos = System.nanoTime();
        }
    }

    /** Whether tasks have taken so much time that a turn is worth it. */
    boolean isDue() {
        return System.nanoTime() - tasksBeganNanos >= LEAST_NANOS;
    }
}
