// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.worker.EndpointPort;

import java.util.Arrays;

/**
 * UCX's requests of one kind, from the oldest on. Each has a slot, under whose number its user keeps what belongs to it.
 * Whatever is done with a request that has completed may add others, or {@linkplain #clear() clear} them all.
 */
final class Requests {

    /**
     * How many that have not completed one look meets. Those behind them are left for a later turn: a peer can have
     * thousands under way, and UCX completes them in their order, or nearly so.
     */
    private static final int PATIENCE = 4;

    private static final int NONE = -1;
    private static final int IN_PROGRESS = 1;

    private final EndpointPort port;
    private long[] requests = new long[8];
    private int[] previous = new int[8];
    private int[] next = new int[8];
    /** Slots that were used before, linked by {@link #next}, and how many ever were. */
    private int free = NONE;
    private int used;
    private int oldest = NONE;
    private int newest = NONE;
    private int count;
    /** Where the look at them goes on. */
    private int cursor = NONE;
    private int patience;
    private int status;

    Requests(EndpointPort port) {
        this.port = port;
    }

    int count() {
        return count;
    }

    /** Slots have smaller numbers. */
    int capacity() {
        return requests.length;
    }

    /** @return its slot */
    int add(long request) {
        int slot = free;
        if (slot == NONE) {
            slot = used++;
            if (slot == requests.length) {
                requests = Arrays.copyOf(requests, slot * 2);
                previous = Arrays.copyOf(previous, slot * 2);
                next = Arrays.copyOf(next, slot * 2);
            }
        } else {
            free = next[slot];
        }
        requests[slot] = request;
        previous[slot] = newest;
        next[slot] = NONE;
        if (newest == NONE) {
            oldest = slot;
        } else {
            next[newest] = slot;
        }
        newest = slot;
        count++;
        return slot;
    }

    /** Begins to look which have completed, from the oldest on, until some in their way have not. */
    void begin() {
        begin(PATIENCE);
    }

    /** The same, of all. */
    void beginAll() {
        begin(Integer.MAX_VALUE);
    }

    private void begin(int unfinished) {
        cursor = oldest;
        patience = unfinished;
    }

    /** @return the slot of the next one that has completed, and has been given back to UCX; negative: there is none */
    int nextCompleted() {
        while (cursor != NONE && patience > 0) {
            int slot = cursor;
            cursor = next[slot];
            status = port.status(requests[slot]);
            if (status != IN_PROGRESS) {
                port.free(requests[slot]);
                remove(slot);
                return slot;
            }
            patience--;
        }
        return NONE;
    }

    /** Of the one that {@link #nextCompleted} has found. */
    int status() {
        return status;
    }

    private void remove(int slot) {
        if (previous[slot] == NONE) {
            oldest = next[slot];
        } else {
            next[previous[slot]] = next[slot];
        }
        if (next[slot] == NONE) {
            newest = previous[slot];
        } else {
            previous[next[slot]] = previous[slot];
        }
        next[slot] = free;
        free = slot;
        count--;
    }

    /** @return a slot, to go on with {@link #after}; negative: there is none */
    int first() {
        return oldest;
    }

    int after(int slot) {
        return next[slot];
    }

    long request(int slot) {
        return requests[slot];
    }

    /** Forgets them: their user has left them to somebody else. */
    void clear() {
        oldest = NONE;
        newest = NONE;
        cursor = NONE;
        free = NONE;
        used = 0;
        count = 0;
    }
}
