// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.memory;

import io.github.nettyucx.worker.EndpointPort;

import java.util.Arrays;
import java.util.function.Consumer;

/** What is being received, for those who wait for it. */
final class Receives<T> {

    private final Requests requests;
    private Object[] waiting = new Object[8];

    Receives(EndpointPort port) {
        requests = new Requests(port);
    }

    boolean isEmpty() {
        return requests.count() == 0;
    }

    void add(long request, T who) {
        int slot = requests.add(request);
        if (waiting.length < requests.capacity()) {
            waiting = Arrays.copyOf(waiting, requests.capacity());
        }
        waiting[slot] = who;
    }

    /** Begins to look what has been received. */
    void begin() {
        requests.begin();
    }

    /** @return who has waited for the next that has, or {@code null} */
    T nextReceived() {
        int slot = requests.nextCompleted();
        return slot < 0 ? null : take(slot);
    }

    /** UCX's reason if the receive has failed; 0 or more otherwise. */
    int status() {
        return requests.status();
    }

    @SuppressWarnings("unchecked")
    private T take(int slot) {
        T who = (T) waiting[slot];
        waiting[slot] = null;
        return who;
    }

    /** Has each left to somebody else. */
    void abandon(Consumer<T> who) {
        for (int slot = requests.first(); slot >= 0; slot = requests.after(slot)) {
            who.accept(take(slot));
        }
        requests.clear();
    }
}
