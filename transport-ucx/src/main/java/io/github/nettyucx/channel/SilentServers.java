// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Servers that have been asked and have not answered as one of this transport. Any thread may call. */
final class SilentServers {

    /** More than that are not remembered, and asked again. */
    private static final int REMEMBERED_AT_MOST = 4096;

    private final LongSupplier clock;
    /** Until when each is taken for an ordinary one. */
    private final Map<InetSocketAddress, Long> untilNanos = new ConcurrentHashMap<>();

    /** @param clock in nanoseconds, as {@link System#nanoTime()} */
    SilentServers(LongSupplier clock) {
        this.clock = clock;
    }

    /** It has not answered, and is not to be asked for so long. */
    void add(InetSocketAddress server, long seconds) {
        if (untilNanos.size() >= REMEMBERED_AT_MOST) {
            untilNanos.keySet().removeIf(each -> !contain(each));
        }
        if (untilNanos.size() < REMEMBERED_AT_MOST) {
            untilNanos.put(server, clock.getAsLong() + TimeUnit.SECONDS.toNanos(seconds));
        }
    }

    boolean contain(InetSocketAddress server) {
        Long until = untilNanos.get(server);
        if (until == null) {
            return false;
        }
        if (clock.getAsLong() - until < 0) {
            return true;
        }
        untilNanos.remove(server, until);
        return false;
    }
}
