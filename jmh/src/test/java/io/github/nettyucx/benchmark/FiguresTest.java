// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** From samples to medians, ratios and targets. */
class FiguresTest {
    private static final Scenario LATENCY = scenario(Work.LATENCY, 16);
    private static final Contender UCX =
            new NettyContender(new Setting(TransportKind.UCX, Lane.SHM, WaitMode.ADAPTIVE));
    private static final Contender NIO = new NettyContender(new Setting(TransportKind.NIO, Lane.AUTO, null));

    @Test
    void theHistogramsOfAllConnectionsCount() throws Exception {
        var first = Durations.newHistogram();
        var second = Durations.newHistogram();
        for (var i = 0; i < 3; i++) {
            Durations.record(first, 1_000);
            Durations.record(second, 2_000);
        }
        Durations.record(second, Long.MAX_VALUE);
        var merged = Durations.merge(List.of(first, second));
        assertEquals(7, merged.getTotalCount());
        assertEquals(2.0, Durations.figures(merged).get(Metric.P50), 0.01);
        assertEquals(60e6, Durations.figures(merged).get(Metric.P999), 60e6 / 100);
        var decoded = Histogram.decodeFromCompressedByteBuffer(
                ByteBuffer.wrap(Base64.getDecoder().decode(Durations.encode(merged))), 0);
        assertEquals(merged, decoded);
    }

    @Test
    void medianAndRange() {
        assertEquals(new Spread(2, 1, 9, 3), Spread.of(List.of(9.0, 1.0, 2.0)).orElseThrow());
        assertEquals(new Spread(1.5, 1, 2, 2), Spread.of(List.of(2.0, 1.0)).orElseThrow());
        assertEquals(Optional.empty(), Spread.of(List.of()));
    }

    @Test
    void aRatioAboveOneIsBetter() {
        var ucx = row(LATENCY, UCX, Metric.P50, 2.0, 1.0, 30.0);
        var nio = row(LATENCY, NIO, Metric.P50, 10.0);
        assertEquals(5.0, Comparison.ratio(List.of(ucx, nio), ucx, "nio").orElseThrow());
        assertEquals(Optional.empty(), Comparison.ratio(List.of(ucx, nio), nio, "nio"));
        var elsewhere = row(scenario(Work.LATENCY, 17), NIO, Metric.P50, 10.0);
        assertEquals(Optional.empty(), Comparison.ratio(List.of(ucx, elsewhere), ucx, "nio"));
        assertEquals(0.2, Metric.RATE.ratio(2, 10));
    }

    @Test
    void theLimitIsThatOfTheSameLane() {
        var shm = row(LATENCY, new Perftest(Lane.SHM, Path.of("")), Metric.P50, 1.0);
        var tcp = row(LATENCY, new Perftest(Lane.TCP, Path.of("")), Metric.P50, 20.0);
        var ucx = row(LATENCY, UCX, Metric.P50, 2.0);
        assertEquals(0.5, Comparison.ratio(List.of(tcp, shm, ucx), ucx, Comparison.LIMIT).orElseThrow());
    }

    @Test
    void aTargetIsMetAtItsBound() {
        var ucx = row(LATENCY, UCX, Metric.P50, 1.2);
        var nio = row(LATENCY, NIO, Metric.P50, 1.2);
        assertEquals(Optional.of(true), new Target("", ucx, Metric.P50, null, 1.2).isMet());
        assertEquals(Optional.of(false), new Target("", ucx, Metric.P50, null, 1.1).isMet());
        assertEquals(Optional.of(true), new Target("", ucx, Metric.P50, nio, 1).isMet());
        assertEquals(Optional.of(false), new Target("", ucx, Metric.P50, nio, 1.01).isMet());
        assertEquals(Optional.empty(), new Target("", new Row(LATENCY, UCX), Metric.P50, null, 1).isMet());
    }

    @Test
    void everyTargetIsMeasured() {
        var targets = new Targets(1, EnumSet.allOf(Work.class), Path.of("here"));
        assertTrue(targets.targets().size() > 25);
        for (var target : targets.targets()) {
            assertTrue(targets.rows().contains(target.row()), target.what());
            assertTrue(target.reference() == null || targets.rows().contains(target.reference()), target.what());
        }
        assertEquals(targets.rows().size(),
                targets.rows().stream().map(row -> Map.entry(row.scenario(), row.contender())).distinct().count());
    }

    @Test
    void readsWhatPerftestSays() {
        var output = """
                iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
                200,0.311,0.473,0.473,32.28,32.28,2115664,2000000
                """;
        var perftest = new Perftest(Lane.SHM, Path.of(""));
        var sample = perftest.parse(LATENCY, output, "UCX 1.22.0");
        assertEquals(0.622, sample.figures().get(Metric.P50), 1e-9);
        assertEquals(1e6, sample.figures().get(Metric.RATE));
        var oneWay = perftest.parse(scenario(Work.THROUGHPUT, 65536), output, "UCX 1.22.0");
        assertEquals(131.072, oneWay.figures().get(Metric.BANDWIDTH), 1e-9);
    }

    private static Scenario scenario(Work work, int size) {
        return new Scenario(work, size, 1, 1, 1, 1, 0, 0, 1, null, null);
    }

    private static Row row(Scenario scenario, Contender contender, Metric metric, double... values) {
        var row = new Row(scenario, contender);
        for (var value : values) {
            row.add(new Sample("lane", "software", 1, 1, Map.of(metric, value), null, null));
        }
        return row;
    }
}
