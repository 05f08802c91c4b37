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

    private final E[] names;
    private final long[] values;

    public Counters(Class<E> names) {
        this.names = names.getEnumConstants();
        values = new long[PADDING + this.names.length + PADDING];
    }

    /** Only for the writing thread. */
    public void increment(E counter) {
        add(counter, 1);
    }

    /** Only for the writing thread. */
    public void add(E counter, long n) {
        int index = PADDING + counter.ordinal();
        VALUE.setOpaque(values, index, values[index] + n);
    }

    /** Adds what another row has counted so far. Only for the writing thread of this row. */
    public void addAll(Counters<E> other) {
        for (E name : names) {
            add(name, other.get(name));
        }
    }

    /** Any thread may call; what it gets may be a little behind. */
    public long get(E counter) {
        return (long) VALUE.getOpaque(values, PADDING + counter.ordinal());
    }

    /** Of all counters. Any thread may call. */
    public long sum() {
        long sum = 0;
        for (E name : names) {
            sum += get(name);
        }
        return sum;
    }
}
