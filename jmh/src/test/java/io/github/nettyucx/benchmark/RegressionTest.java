// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Progress;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Speed, compared with NIO's in the same run: a change that costs much of it shows. The bounds are generous, and what
 * misses one gets a second chance, because machines that run tests are seldom quiet.
 */
class RegressionTest {
    private static final int ROUNDS = 3;
    /** Eight times that is spent on the compiler, if it needs it: it shares its processor with what is measured. */
    private static final double SECONDS = 0.4;
    /**
     * How many times as good as NIO, each by its best round: round trips of 16 bytes (seen on a quiet machine: 25 to 70),
     * messages of 16 bytes (1.6 to 2.5), round trips of 64 KiB (6 to 10). Where others use the machine's processors
     * without being seen, as in a virtual one, it can be much less.
     */
    private static final List<Double> BOUNDS = List.of(3.0, 1.0, 1.0);
    private static final double MOST_OF_OTHERS = 0.4;

    private static final Contender UCX =
            new NettyContender(new Setting(TransportKind.UCX, Lane.SHM, WaitMode.ADAPTIVE));
    private static final Contender NIO = new NettyContender(new Setting(TransportKind.NIO, Lane.AUTO, null));

    private final Pinning pinning = pinning();

    /** A time tells nothing about us where others take the processors: each side of a measurement needs one. */
    @BeforeEach
    void requireProcessors() throws Exception {
        assumeTrue(Runtime.getRuntime().availableProcessors() >= 2, "two processes are measured, on two processors");
        var before = processorTimes();
        // The time over which the others' share is taken.
        Thread.sleep(1000);
        var after = processorTimes();
        var busy = 1 - (double) (after[1] - before[1]) / (after[0] - before[0]);
        assumeTrue(busy <= MOST_OF_OTHERS, String.format("others take %.0f %% of the machine's processors", 100 * busy));
    }

    @Test
    void smallRoundTripsAndMessagesAreFasterThanOverNio() throws Exception {
        var latency = scenario(Work.LATENCY, 16);
        var throughput = scenario(Work.THROUGHPUT, 16);
        var large = scenario(Work.LATENCY, 64 * 1024);
        var missed = measure(List.of(latency, throughput, large), BOUNDS);
        if (!missed.isEmpty()) {
            missed = measure(List.of(latency, throughput, large), BOUNDS);
        }
        assertTrue(missed.isEmpty(), missed);
    }

    /** @return what missed its bound, with all that was measured; or nothing */
    private String measure(List<Scenario> scenarios, List<Double> bounds) throws InterruptedException {
        var rows = scenarios.stream().flatMap(scenario -> List.of(new Row(scenario, UCX), new Row(scenario, NIO)).stream())
                .toList();
        assertTrue(new Experiment(rows, ROUNDS, Progress.SILENT, new Interruption()).run());
        var missed = new StringBuilder();
        for (var i = 0; i < bounds.size(); i++) {
            var ratio = ratioOfBest(rows.get(2 * i), rows.get(2 * i + 1));
            if (ratio < bounds.get(i)) {
                missed.append(String.format("%s: %.2f times as good as nio, expected at least %.2f%n",
                        rows.get(2 * i).scenario(), ratio, bounds.get(i)));
            }
        }
        var table = ReportTable.render(rows);
        System.out.println(table);
        return missed.isEmpty() ? "" : missed + table;
    }

    private static double ratioOfBest(Row ours, Row nio) {
        var metric = ours.scenario().work().headline();
        var own = ours.spread(metric);
        var other = nio.spread(metric);
        if (own.isEmpty() || other.isEmpty()) {
            return 0;
        }
        // Which end of the spread is the better one depends on the metric.
        return Math.max(metric.ratio(own.get().min(), best(metric, other.get())),
                metric.ratio(own.get().max(), best(metric, other.get())));
    }

    private static double best(Metric metric, Spread spread) {
        return metric.ratio(spread.min(), spread.max()) > 1 ? spread.min() : spread.max();
    }

    private Scenario scenario(Work work, int size) {
        return new Scenario(work, size, 1, 1, 1, work == Work.LATENCY ? 1 : Scenario.defaultFlush(size), 0, 0,
                SECONDS, pinning.server(), pinning.client());
    }

    /** Where processes cannot be pinned, the kernel places them; usually apart. */
    private static Pinning pinning() {
        try {
            return Pinning.parse("0:1");
        } catch (IllegalArgumentException e) {
            return Pinning.NONE;
        }
    }

    /** Of all processors since the start: all time, and idle time. */
    private static long[] processorTimes() throws Exception {
        var fields = Arrays.stream(Files.readAllLines(Path.of("/proc/stat")).getFirst().split(" +")).skip(1)
                .map(Long::parseLong).collect(Collectors.toList());
        return new long[] {fields.stream().mapToLong(Long::longValue).sum(), fields.get(3) + fields.get(4)};
    }
}
