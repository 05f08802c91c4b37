// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A row of counters, one for each constant of an enum, that one thread writes and every thread may read.
 * <p>
 * Counting is a load, an addition and a store: there is one writer, so nothing has to be atomic, and nobody relies on
 * an order between counters. Opaque access makes each value whole, and has a reader see it some time.
 *
 * @param <E> names the counters
 */
public final class Counters<E extends Enum<E>> {

    private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);

    /** On each side, in longs: the row of another loop must not lie in the same cache line. */
    private static final int PADDING = 8;

    /** The index of the first counter, and what lies behind the last one, in longs. */
    private final int padding;
    private final long[] values;

    /** Counters of a whole loop. */
    public Counters(Class<E> names) {
        this(names, PADDING);
    }

    private Counters(Class<E> names, int padding) {
        this.padding = padding;
        values = new long[padding + names.getEnumConstants().length + padding];
    }

    /**
     * Counters of one connection of many. It has no more space than they need, because beside it lies what else the
     * connection has, which the same loop writes.
     */
    public static <E extends Enum<E>> Counters<E> ofConnection(Class<E> names) {
        return new Counters<>(names, 0);
    }

    /** Only for the writing thread. */
    public void increment(E counter) {
        add(counter, 1);
    }

    /** Only for the writing thread. */
    public void add(E counter, long n) {
        int index = padding + counter.ordinal();
        VALUE.setOpaque(values, index, values[index] + n);
    }

    /** Adds what another row has counted so far. Only for the writing thread of this row. */
    public void addAll(Counters<E> other) {
        for (int i = 0; i < size(); i++) {
            int index = padding + i;
            VALUE.setOpaque(values, index, values[index] + other.get(i));
        }
    }

    /** Any thread may call; what it gets may be a little behind. */
    public long get(E counter) {
        return get(counter.ordinal());
    }

    private long get(int ordinal) {
        return (long) VALUE.getOpaque(values, padding + ordinal);
    }

    private int size() {
        return values.length - 2 * padding;
    }

    /** Of all counters. Any thread may call. */
    public long sum() {
        long sum = 0;
        for (int i = 0; i < size(); i++) {
            sum += get(i);
        }
        return sum;
    }
}
