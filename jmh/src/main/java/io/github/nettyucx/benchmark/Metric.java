// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.Locale;

/** A figure that a measurement yields. */
enum Metric {
    P50("p50 µs", 2, true),
    P99("p99 µs", 2, true),
    P999("p99.9 µs", 2, true),
    /** Round trips, messages or connections per second, of all connections together. */
    RATE("per second", 0, false),
    /** In units of 10^9 bytes of payload per second, of both directions together. */
    BANDWIDTH("GB/s", 3, false),
    /** By the event loops' threads of both processes, in bytes per operation. */
    ALLOCATION("Java B/op", 2, true),
    /** Resident memory and Java heap in use, per connection, of the side that needs more, in units of 1024 bytes. */
    RSS("KiB/connection", 1, true),
    /** File descriptors per connection, of the side that needs more. */
    FDS("fds/connection", 2, true),
    /** Of the side that needs more, in hundredths of a processor. */
    IDLE_CPU("CPU %", 2, true),
    /** Messages per second of the connection that sends all it can. */
    HOT_RATE("hot msg/s", 0, false);

    private final String heading;
    private final int digits;
    private final boolean lowerIsBetter;

    Metric(String heading, int digits, boolean lowerIsBetter) {
        this.heading = heading;
        this.digits = digits;
        this.lowerIsBetter = lowerIsBetter;
    }

    String heading() {
        return heading;
    }

    boolean lowerIsBetter() {
        return lowerIsBetter;
    }

    String format(double value) {
        return String.format(Locale.ROOT, "%,." + digits + "f", value);
    }

    /** How many times better the first value is; below 1 if it is worse. */
    double ratio(double value, double other) {
        return lowerIsBetter ? other / value : value / other;
    }
}
