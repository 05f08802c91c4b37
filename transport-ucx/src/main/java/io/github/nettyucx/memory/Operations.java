// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import java.util.ArrayDeque;
import java.util.Arrays;

/** What this side has under way, in the order in which it was begun, and by the numbers that the peer answers with. */
final class Operations {

    /** By their numbers; those that are not under way wait to be used again. */
    private Operation[] operations = new Operation[0];
    private int[] free = new int[0];
    private int freeCount;
    private final ArrayDeque<Operation> order = new ArrayDeque<>();

    Operation begin(int kind, UcxCompletion completion, long id) {
        if (freeCount == 0) {
            grow();
        }
        Operation operation = operations[free[--freeCount]];
        operation.kind = kind;
        operation.completion = completion;
        operation.id = id;
        operation.frame = -1;
        operation.done = false;
        operation.told = false;
        operation.value = 0;
        operation.failure = null;
        order.addLast(operation);
        return operation;
    }

    private void grow() {
        int count = operations.length;
        operations = Arrays.copyOf(operations, Math.max(16, count * 2));
        free = new int[operations.length];
        for (int i = operations.length - 1; i >= count; i--) {
            operations[i] = new Operation();
            operations[i].number = i;
            free[freeCount++] = i;
        }
    }

    /** @return the one with that number, under way or not, or {@code null} */
    Operation find(int number) {
        return number < operations.length ? operations[number] : null;
    }

    int count() {
        return order.size();
    }

    /** @return the oldest, or {@code null} */
    Operation first() {
        return order.peekFirst();
    }

    /** It is not under way any more; its number is not given to another before {@link #reuse}. */
    void removeFirst() {
        order.pollFirst();
    }

    void reuse(Operation operation) {
        free[freeCount++] = operation.number;
    }

    Iterable<Operation> underWay() {
        return order;
    }
}
