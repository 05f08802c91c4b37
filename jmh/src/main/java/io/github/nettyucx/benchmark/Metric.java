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
    /** The same in the first 100 ms after the first message; where there is this one, {@link #RATE} is that of the rest. */
    EARLY_RATE("per second, first 100 ms", 0, false),
    /** In units of 10^9 bytes of payload per second, of both directions together. */
    BANDWIDTH("GB/s", 3, false),
    /** By the event loops' threads of both processes, in bytes per operation. */
    ALLOCATION("Java B/op", 2, true),
    /**
     * Of the event loops' threads of the client, which also look for something to do, in nanoseconds per operation; of both
     * ways, per operation of both.
     */
    CLIENT_CPU("client ns/op", 1, true),
    /** The same of the server. */
    SERVER_CPU("server ns/op", 1, true),
    /**
     * Memory and Java heap in use, per connection, of the side that needs more, in units of 1024 bytes. Memory that
     * processes share counts in equal parts for each: the proportional set size.
     */
    PSS("Pss KiB/connection", 1, true),
    /** File descriptors per connection, of the side that needs more. */
    FDS("fds/connection", 2, true),
    /** Of the side that needs more, in hundredths of a processor. */
    IDLE_CPU("CPU %", 2, true),
    /** From the start of a server's process until it listens, in milliseconds. */
    LISTENING("ms until it listens", 0, true),
    /** From the start of a client's process until its first message has come back, in milliseconds. */
    FIRST_ECHO("ms to first echo", 0, true),
    /** Of the server then, in units of 1,048,576 bytes. */
    RESIDENT("resident MiB", 1, true),
    /** Of an application that reads what it has written. */
    READ_RATE("reads per second", 0, false),
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
