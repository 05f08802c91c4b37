// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.Arrays;

/** Messages in fragments that have begun on a connection, and have not ended. As many as threads send such: a few. */
final class UnderWay {

    private long[] numbers = new long[8];
    /** Bytes that are to come. */
    private int[] left = new int[8];
    private int count;
    private long progress;

    /** @param total bytes of the message */
    void fragment(long number, int total, boolean isFirst, int length) {
        int i = index(number);
        if (i < 0) {
            if (!isFirst) {
                // Its beginning went over another connection: nobody waits for the rest.
                return;
            }
            if (count == numbers.length) {
                numbers = Arrays.copyOf(numbers, 2 * count);
                left = Arrays.copyOf(left, 2 * count);
            }
            i = count++;
            numbers[i] = number;
            left[i] = total;
        }
        left[i] -= length;
        progress++;
        if (left[i] == 0) {
            remove(i);
        }
    }

    void aborted(long number) {
        int i = index(number);
        if (i >= 0) {
            remove(i);
            progress++;
        }
    }

    /** How many frames of such messages there have been. */
    long progress() {
        return progress;
    }

    boolean isEmpty() {
        return count == 0;
    }

    void clear() {
        count = 0;
    }

    private int index(long number) {
        int i = count - 1;
        while (i >= 0 && numbers[i] != number) {
            i--;
        }
        return i;
    }

    private void remove(int i) {
        count--;
        numbers[i] = numbers[count];
        left[i] = left[count];
    }
}
