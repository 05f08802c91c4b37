// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Gives objects the integer that C code carries around for them as {@code user_data}. An id comes back only after two
 * thousand million others, so an upcall that comes late finds nothing rather than somebody else. Look-ups take no
 * lock and allocate nothing.
 */
final class UpcallRegistry<T> {

    private record Entry<T>(long id, T value) {
    }

    private static final int INITIAL_CAPACITY = 64;

    /** Replaced when it grows. A reader of the old one misses only entries added since, whose ids it can't have. */
    private volatile AtomicReferenceArray<Entry<T>> slots = new AtomicReferenceArray<>(INITIAL_CAPACITY);
    /** Free slots, as a stack, all below {@link #used}; with room for all. */
    private int[] free = new int[INITIAL_CAPACITY];
    private int freeCount;
    private int used;
    private long generation;

    /** Adds a value; the id is positive: the slot in the low 32 bits, what makes it unique above. */
    synchronized long register(T value) {
        if (freeCount == 0 && used == slots.length()) {
            grow();
        }
        int slot = freeCount > 0 ? free[freeCount - 1] : used;
        generation = generation == Integer.MAX_VALUE ? 1 : generation + 1;
        long id = generation << Integer.SIZE | slot;
        Entry<T> entry = new Entry<>(id, value);
        // The slot is taken when there is nothing left that memory is needed for.
        if (freeCount > 0) {
            freeCount--;
        } else {
            used++;
        }
        slots.set(slot, entry);
        return id;
    }

    synchronized void unregister(long id) {
        int slot = (int) id;
        Entry<T> entry = slots.get(slot);
        if (entry == null || entry.id != id) {
            return;
        }
        slots.set(slot, null);
        free[freeCount++] = slot;
    }

    /** The value, or {@code null} if the id was unregistered. */
    T get(long id) {
        AtomicReferenceArray<Entry<T>> current = slots;
        int slot = (int) id;
        if (slot < 0 || slot >= current.length()) {
            return null;
        }
        Entry<T> entry = current.get(slot);
        return entry != null && entry.id == id ? entry.value : null;
    }

    private void grow() {
        AtomicReferenceArray<Entry<T>> old = slots;
        AtomicReferenceArray<Entry<T>> grown = new AtomicReferenceArray<>(old.length() * 2);
        for (int i = 0; i < old.length(); i++) {
            grown.set(i, old.get(i));
        }
        free = Arrays.copyOf(free, grown.length());
        slots = grown;
    }
}
