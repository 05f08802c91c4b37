// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LinkRequest;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** Handshakes that wait for another one to make the link that they need, in the order in which they have asked. */
final class WaitingRequests {

    private record Waiting(LinkRequest request, long sinceNanos) {
    }

    private final ArrayDeque<Waiting> row = new ArrayDeque<>(0);

    boolean isEmpty() {
        return row.isEmpty();
    }

    void add(LinkRequest request, long now) {
        row.add(new Waiting(request, now));
    }

    /** @return the first, which does not wait any more; {@code null} if there is none */
    LinkRequest poll() {
        Waiting first = row.poll();
        return first == null ? null : first.request;
    }

    /** @return whether it has waited */
    boolean remove(LinkRequest request) {
        return row.removeIf(waiting -> waiting.request == request);
    }

    /** Those that can do without the link, and have waited for as long as they would; they go on waiting. */
    List<LinkRequest> impatient(long now) {
        if (row.isEmpty()) {
            return List.of();
        }
        List<LinkRequest> all = new ArrayList<>();
        for (Waiting waiting : row) {
            if (waiting.request.isTooLong(now - waiting.sinceNanos)) {
                all.add(waiting.request);
            }
        }
        return all;
    }
}
