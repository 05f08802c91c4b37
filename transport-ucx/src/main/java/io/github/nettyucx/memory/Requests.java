// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.worker.EndpointPort;

import java.util.function.Consumer;

/**
 * UCX's requests of one kind, from the oldest on, as those who wait for them. Whatever is done with one that has completed
 * may add others, or {@linkplain #abandon abandon} them all.
 */
final class Requests<R extends Requests.Request> {

    /** Who waits for one of UCX's requests. */
    abstract static class Request {
        /** 0: for none. */
        long request;
        private Request previous;
        private Request next;
    }

    /**
     * How many that have not completed one look meets. Those behind them are left for a later turn: a peer can have
     * thousands under way, and UCX completes them in their order, or nearly so.
     */
    private static final int PATIENCE = 4;

    private static final int IN_PROGRESS = 1;

    private final EndpointPort port;
    private Request oldest;
    private Request newest;
    private int count;
    /** Where the look at them goes on. */
    private Request cursor;
    private int patience;
    private int status;

    Requests(EndpointPort port) {
        this.port = port;
    }

    int count() {
        return count;
    }

    void add(R who, long request) {
        Request added = who;
        added.request = request;
        added.previous = newest;
        if (newest == null) {
            oldest = added;
        } else {
            newest.next = added;
        }
        newest = added;
        count++;
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

    /** @return the next one that has completed, and has been given back to UCX; or {@code null} */
    @SuppressWarnings("unchecked")
    R nextCompleted() {
        while (cursor != null && patience > 0) {
            Request found = cursor;
            cursor = found.next;
            status = port.status(found.request);
            if (status != IN_PROGRESS) {
                port.free(found.request);
                remove(found);
                return (R) found;
            }
            patience--;
        }
        return null;
    }

    /** Of the one that {@link #nextCompleted} has found: UCX's reason if it has failed; 0 or more otherwise. */
    int status() {
        return status;
    }

    private void remove(Request gone) {
        if (gone.previous == null) {
            oldest = gone.next;
        } else {
            gone.previous.next = gone.next;
        }
        if (gone.next == null) {
            newest = gone.previous;
        } else {
            gone.next.previous = gone.previous;
        }
        gone.previous = null;
        gone.next = null;
        gone.request = 0;
        count--;
    }

    /** Has each left to somebody else. */
    @SuppressWarnings("unchecked")
    void abandon(Consumer<R> leave) {
        cursor = null;
        while (oldest != null) {
            Request left = oldest;
            leave.accept((R) left);
            remove(left);
        }
    }
}
