// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import java.util.Arrays;

/**
 * What this side has under way, from its beginning until somebody is told of it: in the order in which it was begun, and by
 * the numbers that the peer answers with.
 */
final class Operations {

    /** By their numbers; those that are not under way wait to be used again. */
    private Operation[] operations = new Operation[0];
    private int[] free = new int[0];
    private int freeCount;
    private Operation oldest;
    private Operation newest;
    private int count;
    /** Of them, those of which somebody is to be told next, in the order in which they have come to their ends. */
    private Operation firstCompleted;
    private Operation lastCompleted;
    private int completedCount;
    /** What has failed before all that are under way, and nobody has been told of; or {@code null}. */
    private Throwable untold;

    /** What {@link #begin} needs is there afterwards: nothing is sent of what cannot be begun for want of memory. */
    void prepare() {
        if (freeCount == 0) {
            grow();
        }
    }

    Operation begin(int kind, UcxCompletion completion, long id) {
        prepare();
        Operation operation = operations[free[--freeCount]];
        operation.kind = kind;
        operation.completion = completion;
        operation.id = id;
        operation.frame = -1;
        operation.done = false;
        operation.value = 0;
        operation.failure = null;
        operation.before = newest;
        if (newest == null) {
            oldest = operation;
        } else {
            newest.behind = operation;
        }
        newest = operation;
        count++;
        return operation;
    }

    private void grow() {
        int known = operations.length;
        Operation[] more = Arrays.copyOf(operations, Math.max(16, known * 2));
        int[] numbers = new int[more.length];
        int added = 0;
        for (int i = more.length - 1; i >= known; i--) {
            more[i] = new Operation();
            more[i].number = i;
            numbers[added++] = i;
        }
        operations = more;
        free = numbers;
        freeCount = added;
    }

    /** @return the one with that number, under way or not, or {@code null} */
    Operation find(int number) {
        return number < operations.length ? operations[number] : null;
    }

    int count() {
        return count;
    }

    /** @return the oldest, or {@code null} */
    Operation first() {
        return oldest;
    }

    /** Somebody is to be told of it. */
    void completed(Operation operation) {
        if (lastCompleted == null) {
            firstCompleted = operation;
        } else {
            lastCompleted.nextCompleted = operation;
        }
        lastCompleted = operation;
        completedCount++;
    }

    int completedCount() {
        return completedCount;
    }

    /** @return the first of those that have completed; there has to be one */
    Operation pollCompleted() {
        Operation polled = firstCompleted;
        firstCompleted = polled.nextCompleted;
        if (firstCompleted == null) {
            lastCompleted = null;
        }
        polled.nextCompleted = null;
        completedCount--;
        return polled;
    }

    /**
     * It is not under way any more. Its number may be given to another.
     *
     * @param failure its own, if nobody is told of it; or {@code null}
     */
    void end(Operation operation, Throwable failure) {
        Operation before = operation.before;
        leave(failure != null ? failure : operation.untold, before);
        operation.untold = null;
        if (before == null) {
            oldest = operation.behind;
        } else {
            before.behind = operation.behind;
        }
        if (operation.behind == null) {
            newest = before;
        } else {
            operation.behind.before = before;
        }
        operation.before = null;
        operation.behind = null;
        count--;
        free[freeCount++] = operation.number;
    }

    // ------------------------------------------------------------------------------------------- what nobody is told of

    /** Something that could not even be begun has, behind all that are under way. */
    void failed(Throwable failure) {
        leave(failure, newest);
    }

    /** A flush that was begun before tells nothing of it: so it stays at its place until all before that are over. */
    private void leave(Throwable failure, Operation before) {
        if (before == null) {
            untold = untold == null ? failure : untold;
        } else {
            before.untold = before.untold == null ? failure : before.untold;
        }
    }

    /** What a flush tells that has nothing under way before it; or {@code null}. */
    Throwable takeUntold() {
        Throwable failure = untold;
        untold = null;
        return failure;
    }
}
