// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.util.List;
import java.util.Objects;

/**
 * Is told of every connection of this process, whichever loop it is on. For tools; applications have
 * {@link UcxSocketChannel#lane()} and {@link UcxMetrics}. The loops' threads call, so what it does has to be short.
 */
public interface ConnectionObserver {

    /**
     * A connection is open, and {@link UcxSocketChannel#lane()} says by what.
     *
     * @param accepted whether this side is the server's
     * @param reasons  why no better lane was taken
     */
    void opened(UcxSocketChannel channel, boolean accepted, List<String> reasons);

    /** A connection that was open is closed. Its counts are final. */
    void closed(UcxSocketChannel channel);

    /**
     * Waits until the end of the JVM has closed the connections that it closes, and their peers have what was flushed, or the
     * time for that is over (docs/reliability.md, the end of the JVM). For a tool's shutdown hook, and for no other thread.
     */
    static void awaitExit() throws InterruptedException {
        OrderlyExit.await();
    }

    /**
     * Makes it known, in the place of the one before, for as long as the JVM runs. It is told of connections that open from
     * then on.
     */
    static void install(ConnectionObserver observer) {
        ConnectionMetrics.observer = Objects.requireNonNull(observer, "observer");
    }
}
