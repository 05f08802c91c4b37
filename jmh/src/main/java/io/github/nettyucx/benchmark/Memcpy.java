// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;

/** One thread that copies memory from one buffer to another of a message's size: what a single copy costs here. */
record Memcpy() implements Contender {
    private static final int CACHE_LINE = 64;
    private static final int COPIES_PER_CLOCK_READ = 1024;

    @Override
    public String name() {
        return "memcpy";
    }

    @Override
    public String lane() {
        return "-";
    }

    @Override
    public String waitMode() {
        return "-";
    }

    static boolean knows(Scenario scenario) {
        return scenario.work() == Work.THROUGHPUT && scenario.connections() == 1 && scenario.isPlain();
    }

    @Override
    public Sample measure(Scenario scenario, Interruption interruption) {
        try (var arena = Arena.ofConfined()) {
            var from = arena.allocate(scenario.size(), CACHE_LINE).fill((byte) 1);
            var to = arena.allocate(scenario.size(), CACHE_LINE);
            copy(from, to, scenario.seconds() / 2, interruption);
            return copy(from, to, scenario.seconds() / 2, interruption);
        }
    }

    private static Sample copy(MemorySegment from, MemorySegment to, double seconds, Interruption interruption) {
        var begin = System.nanoTime();
        var copies = 0L;
        var nanos = 0L;
        while (nanos < seconds * 1e9) {
            interruption.check();
            for (var i = 0; i < COPIES_PER_CLOCK_READ; i++) {
                MemorySegment.copy(from, 0, to, 0, from.byteSize());
            }
            copies += COPIES_PER_CLOCK_READ;
            nanos = System.nanoTime() - begin;
        }
        var rate = copies * 1e9 / nanos;
        return new Sample("-", "Java " + Runtime.version().feature(), copies, nanos / 1e9,
                new EnumMap<>(Map.of(Metric.RATE, rate, Metric.BANDWIDTH, rate * from.byteSize() / 1e9)), null, null);
    }
}
