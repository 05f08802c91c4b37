// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import java.util.Map;
import java.util.TreeMap;

/** Ranges of tickets. The oldest are forgotten when there are very many. Not for several threads. */
final class TicketRanges {

    private static final int LIMIT = 4096;

    private final TreeMap<Long, Long> ends = new TreeMap<>();

    void add(long from, long to) {
        Map.Entry<Long, Long> before = ends.floorEntry(from);
        if (before != null && before.getValue() >= from) {
            ends.put(before.getKey(), Math.max(to, before.getValue()));
        } else {
            ends.put(from, to);
            if (ends.size() > LIMIT) {
                ends.pollFirstEntry();
            }
        }
    }

    boolean contains(long ticket) {
        Map.Entry<Long, Long> range = ends.floorEntry(ticket);
        return range != null && ticket < range.getValue();
    }
}
