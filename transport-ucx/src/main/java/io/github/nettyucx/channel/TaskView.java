// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

/**
 * What an {@link IoDriver} has to know of the tasks and timers of its event loop before it blocks. Only the loop's
 * thread calls.
 */
public interface TaskView {

    /** Whether there are tasks, although the loop has run some since it asked last. Not if it always runs all of them. */
    default boolean remain() {
        return false;
    }

    /**
     * Adds a task behind all others. Asked only where tasks remain.
     *
     * @return whether it will be run, as far as is known; not if the loop has ended, or has no room
     */
    default boolean addLast(Runnable task) {
        return false;
    }

    /**
     * Whether the loop must not block: a task waits, a timer is due, or the loop's owner wants it so.
     *
     * @param tasksOnly whether timers need not be looked at: the loop has found nothing to do in this turn, and looks at
     *                  them in one of the next. Such turns are short, and many, and reading the clock takes longer
     */
    boolean isPending(boolean tasksOnly);

    /** When the next timer is due, on the loop's own clock; -1 if there is none. */
    long deadlineNanos();

    /** In how many nanoseconds the next timer is due; asked only if there is one. 0 or less if it is overdue. */
    long delayNanos();
}
