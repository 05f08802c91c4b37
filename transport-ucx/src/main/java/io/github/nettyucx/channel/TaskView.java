// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

/**
 * What an {@link IoDriver} has to know of the tasks and timers of its event loop before it blocks. Only the loop's
 * thread calls.
 */
public interface TaskView {

    /**
     * Whether the loop must not block: a task waits, a timer is due, or the loop's owner wants it so.
     *
     * @param idle whether the loop has found nothing to do in this turn. Such turns are short, and many: timers need not
     *             be looked at in each of them
     */
    boolean isPending(boolean idle);

    /** When the next timer is due, on the loop's own clock; -1 if there is none. */
    long deadlineNanos();

    /** In how many nanoseconds the next timer is due; asked only if there is one. 0 or less if it is overdue. */
    long delayNanos();
}
