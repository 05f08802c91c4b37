// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.Locale;

/** How a UCX event loop waits for what comes next; see {@code UcxWaitStrategy}. */
public enum WaitMode {
    /** Never sleeps: the lowest latency, for the price of one processor per event loop. */
    SPIN("BUSY_SPIN"),
    /** Spins for a moment, then sleeps. */
    ADAPTIVE("ADAPTIVE"),
    /** Sleeps at once. */
    PARK("PARK");

    private static final String PROPERTY = "io.github.nettyucx.waitStrategy";

    private final String strategy;

    WaitMode(String strategy) {
        this.strategy = strategy;
    }

    /** Takes effect on event loops that are created later in this process. */
    public void apply() {
        System.setProperty(PROPERTY, strategy);
    }

    /** The name by which the command line knows this mode. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
