// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import java.util.Arrays;

/** Where in a segment some of its records begin. It is not stored: whoever reads the segment makes it again. */
final class SparseIndex {
    /** A record that has no entry begins less than so many bytes behind one that has. */
    static final int INTERVAL = 4096;

    /** Numbers of records within the segment, and where they begin. */
    private int[] numbers = new int[16];
    private int[] positions = new int[16];
    private int size;

    /** Is told of each record, in their order. */
    void add(int number, int position) {
        if (size > 0 && position - positions[size - 1] < INTERVAL) {
            return;
        }
        if (size == numbers.length) {
            numbers = Arrays.copyOf(numbers, size * 2);
            positions = Arrays.copyOf(positions, size * 2);
        }
        numbers[size] = number;
        positions[size++] = position;
    }

    /** Forgets the records from a number on. */
    void cut(int from) {
        while (size > 0 && numbers[size - 1] >= from) {
            size--;
        }
    }

    /** The last entry that is not behind a record; -1 if there is none. */
    private int entry(int number) {
        var found = Arrays.binarySearch(numbers, 0, size, number);
        return found >= 0 ? found : -found - 2;
    }

    /** Of a record from which one comes to the given one by going on. */
    int numberBefore(int number) {
        var entry = entry(number);
        return entry < 0 ? 0 : numbers[entry];
    }

    /** Where that one begins. */
    int positionBefore(int number) {
        var entry = entry(number);
        return entry < 0 ? 0 : positions[entry];
    }
}
