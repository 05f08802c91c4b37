// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import java.util.Locale;

/** What is compared, and told in a table of its own. */
enum LogTable {
    /** Latency and goodput, over the length of records. */
    PRODUCE,
    /** Goodput of short records, over how many are sent at once. */
    BATCH,
    /** Latency and goodput, over the number of brokers that have each record. */
    REPLICAS,
    /** The time in which a record is read, and what the broker has to do for it. */
    CONSUME;

    /** The name by which the command line knows it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
