// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Progress;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

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
        var nio = row(LATENCY, NIO, Metric.P50, 10.0, 5.0, 30.0);
        assertEquals(5.0, Comparison.ratio(List.of(ucx, nio), ucx, Metric.P50, "nio").orElseThrow());
        assertEquals(Optional.empty(), Comparison.ratio(List.of(ucx, nio), nio, Metric.P50, "nio"));
        var elsewhere = row(scenario(Work.LATENCY, 17), NIO, Metric.P50, 10.0);
        assertEquals(Optional.empty(), Comparison.ratio(List.of(ucx, elsewhere), ucx, Metric.P50, "nio"));
        assertEquals(0.2, Metric.RATE.ratio(2, 10));
    }

    @Test
    void aRatioIsTakenWithinARound() {
        var ucx = row(LATENCY, UCX, Metric.P50, 1.0, 4.0, 1.0);
        // The second round was slow for both.
        var nio = row(LATENCY, NIO, Metric.P50, 10.0, 40.0, 11.0);
        assertEquals(new Spread(10, 10, 11, 3), ucx.ratio(Metric.P50, nio).orElseThrow());
        assertEquals(Optional.empty(), ucx.ratio(Metric.P50, new Row(LATENCY, NIO)));
    }

    @Test
    void whatIsMeasuredInABadMinuteIsMeasuredAgainAndCountsForNothing() throws InterruptedException {
        // Five looks at first, then one behind each measurement; a bad one tells of what is before and behind it.
        var readings = List.of(0.3, 0.25, 0.25, 0.26, 0.25, 0.25, 1.0, 0.37, 0.37, 0.38, 0.38, 0.38).iterator();
        var gauge = new Gauge(_ -> readings.next());
        var figures = List.of(10.0, 50.0, 40.0, 11.0, 60.0, 61.0, 62.0).iterator();
        var row = new Row(LATENCY, new Measured(figures::next));
        assertTrue(new Experiment(List.of(row), 3, gauge, Progress.SILENT, new Interruption()).run());
        assertEquals(List.of(10.0, 11.0), row.samples().stream().map(sample -> sample.figures().get(Metric.P50)).toList());
        assertEquals(List.of(50.0, 40.0, 60.0, 61.0, 62.0),
                row.disturbed().stream().map(sample -> sample.figures().get(Metric.P50)).toList());
        assertEquals(0.25, gauge.good());
        assertTrue(ReportTable.disturbances(List.of(row), gauge).startsWith("5 of 7 measurements were disturbed"));
    }

    @Test
    void aGaugeThatCouldNotBeReadIsNotOneThatIsNotThere() throws InterruptedException {
        var interruption = new Interruption();
        var without = Gauge.of(null, List.of());
        assertEquals(0, without.look(interruption));
        assertTrue(ReportTable.disturbances(List.of(), without).contains("there is no ucx_perftest"));
        var broken = new Gauge(_ -> {
            throw new ExampleFailure("no such device");
        });
        assertTrue(ReportTable.disturbances(List.of(), broken).contains("nobody has looked"));
        assertEquals(0, broken.look(interruption));
        var text = ReportTable.disturbances(List.of(), broken);
        assertTrue(text.startsWith("Nothing tells whether") && text.contains("could not be run 5 of 5 times")
                && text.contains("no such device"), text);
    }

    @Test
    void whatTheGaugeHasMissedIsTold() throws InterruptedException {
        var readings = List.of(0.3, 0.3, 0.3, 0.3, 0.3, -1.0, 0.3).iterator();
        var gauge = new Gauge(_ -> {
            var reading = readings.next();
            if (reading < 0) {
                throw new ExampleFailure("it was not done within 60 s");
            }
            return reading;
        });
        gauge.look(new Interruption());
        assertEquals(1, ReportTable.disturbances(List.of(), gauge).lines().count());
        gauge.look(new Interruption());
        gauge.look(new Interruption());
        var text = ReportTable.disturbances(List.of(), gauge);
        assertTrue(text.startsWith("0 of 0 measurements were disturbed") && text.contains("could not be run 1 of 7 times")
                && text.contains("it was not done within 60 s"), text);
    }

    /** With others than those that are measured it would tell of others' minutes. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "all", value = {
        "all     | all     | 0-3  | 0:1",
        "all     | all     | 5,9  | 5:9",
        "2       | 3       | 0-3  | 2:3",
        "0,1     | 0,1     | 0-1  | 0:1",
        "2-3     | 2       | 0-3  | 3:2",
        "2       | 2-3     | 0-3  | 2:3",
        "1       | 1       | 0-3  | 1:0",
        "0       | 0       | 0-1  | 0:1"})
    void theGaugeHasProcessorsThatAreMeasured(String server, String client, String allowed, String expected) {
        var two = Processors.two(new Pinning(server, client), Processors.parse(allowed));
        assertEquals(expected, two.server() + ":" + two.client());
    }

    @Test
    void aReadingThatIsTooGoodSpoilsNoOthers() throws InterruptedException {
        var readings = List.of(0.3, 0.1, 0.31, 0.32, 0.33, 0.34, 0.35).iterator();
        var gauge = new Gauge(_ -> readings.next());
        while (readings.hasNext()) {
            assertFalse(gauge.isSlow(gauge.look(new Interruption())));
        }
        assertTrue(gauge.isSlow(0.46));
    }

    @Test
    void aLimitThatMissesItselfWasDisturbed() {
        var limit = new Row(LATENCY, new Perftest(Lane.SHM, Path.of("")));
        for (var micros : new double[] {3.1, 2.0, 2.9}) {
            limit.add(sample(Metric.P50, micros));
        }
        limit.settle(Gauge.none("none is needed"));
        assertEquals(2, limit.samples().size());
        assertEquals(1, limit.disturbed().size());
    }

    @Test
    void whatTakesLongIsALargerPartOfTheProgress() throws InterruptedException {
        var fractions = new ArrayList<Double>();
        var progress = new Progress() {
            @Override
            public void begin(String what) {
                // Only how far it is.
            }

            @Override
            public void at(double fraction) {
                fractions.add(fraction);
            }
        };
        var contender = new Measured(() -> 1.0);
        var rows = List.of(new Row(LATENCY, contender), new Row(scenario(Work.START_AOT, 16), contender));
        assertTrue(new Experiment(rows, 2, Gauge.none("none is needed"), progress, new Interruption()).run());
        assertEquals(4, fractions.size());
        assertEquals(0, fractions.getFirst());
        assertTrue(fractions.get(1) < 0.25, fractions.toString());
        assertEquals(0.5, fractions.get(2), 1e-9);
    }

    private record Measured(Supplier<Double> figures) implements Contender {
        @Override
        public String name() {
            return "measured";
        }

        @Override
        public String lane() {
            return "-";
        }

        @Override
        public String waitMode() {
            return "-";
        }

        @Override
        public Sample measure(Scenario scenario, Interruption interruption) {
            return sample(Metric.P50, figures.get());
        }
    }

    @Test
    void theLimitIsThatOfTheSameLane() {
        var shm = row(LATENCY, new Perftest(Lane.SHM, Path.of("")), Metric.P50, 1.0);
        var tcp = row(LATENCY, new Perftest(Lane.TCP, Path.of("")), Metric.P50, 20.0);
        var ucx = row(LATENCY, UCX, Metric.P50, 2.0);
        assertEquals(0.5, Comparison.ratio(List.of(tcp, shm, ucx), ucx, Metric.P50, Comparison.LIMIT).orElseThrow());
    }

    @Test
    void theLimitOfAnOperationIsTheTestThatDoesTheSame() {
        var put = new OneSided(OneSided.Kind.PUT, Lane.SHM);
        var messages = new Perftest(Lane.SHM, Path.of(""));
        var puts = new Perftest(Lane.SHM, Path.of(""), "ucp_put_bw");
        assertTrue(puts.isLimitOf(put, Work.THROUGHPUT));
        assertFalse(messages.isLimitOf(put, Work.THROUGHPUT));
        assertTrue(messages.isLimitOf(UCX, Work.THROUGHPUT));
        assertFalse(puts.isLimitOf(UCX, Work.THROUGHPUT));
        // There is none.
        for (var work : List.of(Work.LATENCY, Work.BIDIRECTIONAL)) {
            assertFalse(puts.isLimitOf(put, work) || messages.isLimitOf(put, work), work.toString());
        }
        assertFalse(messages.isLimitOf(new OneSided(OneSided.Kind.REQUEST, Lane.SHM), Work.LATENCY));
    }

    @Test
    void theProcessorTimeOfEachSideIsDividedByTheOperations() {
        var sample = new Sample("lane", "software", 100, 1, Map.of(Metric.RATE, 100.0), null, null);
        var client = new ClientResult(sample, state(50, 1_000), state(450, 3_000));
        for (var work : List.of(Work.THROUGHPUT, Work.BIDIRECTIONAL)) {
            var figures = Pair.combine(scenario(work, 16), client, state(0, 500), state(100, 1_200)).figures();
            assertEquals(20, figures.get(Metric.CLIENT_CPU));
            assertEquals(7, figures.get(Metric.SERVER_CPU));
            assertEquals(5, figures.get(Metric.ALLOCATION));
        }
        assertFalse(Pair.combine(LATENCY, client, state(0, 0), state(0, 0)).figures().containsKey(Metric.CLIENT_CPU));
    }

    private static ProcessState state(long loopBytes, long loopNanos) {
        return new ProcessState(0, 0, 0, 0, 0, loopBytes, loopNanos);
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
        var targets = new Targets(1, EnumSet.allOf(Work.class), true, Path.of("here"));
        assertTrue(targets.targets().size() > 25);
        assertMeasured(targets);
        assertEquals(targets.rows().size(),
                targets.rows().stream().map(row -> Map.entry(row.scenario(), row.contender())).distinct().count());
    }

    @ParameterizedTest
    @EnumSource(Work.class)
    void theTargetsOfOneWorkAloneAreMeasured(Work work) {
        var targets = new Targets(1, EnumSet.of(work), false, Path.of("here"));
        assertMeasured(targets);
        for (var target : targets.targets()) {
            assertEquals(work, target.row().scenario().work(), target.what());
        }
    }

    private static void assertMeasured(Targets targets) {
        for (var target : targets.targets()) {
            assertTrue(targets.rows().contains(target.row()), target.what());
            assertTrue(target.reference() == null || targets.rows().contains(target.reference()), target.what());
        }
    }

    @Test
    void oneSidedMemoryAloneHasItsTargets() {
        var targets = new Targets(1, EnumSet.noneOf(Work.class), true, Path.of("here"));
        assertMeasured(targets);
        assertEquals(List.of("put and notify 8 B, shm ≥ 0.83× ucx", "fetch and add 8 B, shm ≤ 0.30 p50 µs",
                        "put and notify 64 B, shm ≥ 0.83× ucx", "get 64 B, shm ≤ 1.00 p50 µs",
                        "put and notify 64 KiB, shm ≥ 0.83× ucx", "put 64 B, shm ≥ 10,000,000 per second",
                        "put 64 KiB, shm ≥ 0.90× limit"),
                targets.targets().stream().map(target -> target.what() + " " + target.goal()).toList());
        // Without a limit one is left that is compared with it.
        assertEquals(6, new Targets(1, EnumSet.noneOf(Work.class), true, null).targets().size());
    }

    /** Each of ours against each of the others, in every scenario of these works that has a target at all. */
    @ParameterizedTest
    @CsvSource({"LATENCY, P999", "MANY, P999", "FIRST_LATENCY, RATE", "FIRST_LATENCY, EARLY_RATE", "FIRST_THROUGHPUT, RATE",
        "FIRST_THROUGHPUT, EARLY_RATE"})
    void bothLanesAreComparedWithEachPeer(Work work, Metric metric) {
        var targets = new Targets(1, EnumSet.of(work), false, null).targets();
        var scenarios = targets.stream().filter(target -> target.reference() != null
                && target.reference().scenario().equals(target.row().scenario())).map(target -> target.row().scenario())
                .distinct().toList();
        assertFalse(scenarios.isEmpty());
        for (var scenario : scenarios) {
            for (var lane : List.of("shm", "socket")) {
                for (var peer : List.of("nio", "epoll", "io_uring")) {
                    assertTrue(targets.stream().anyMatch(target -> target.metric() == metric
                            && target.row().scenario().equals(scenario) && target.row().contender().lane().equals(lane)
                            && target.reference() != null && target.reference().scenario().equals(scenario)
                            && target.reference().contender().name().equals(peer)), scenario + ", " + lane + ", " + peer);
                }
            }
        }
    }

    @Test
    void operationsOnMemoryAreNotComparedWithMessagesOfThePeers() {
        var get = row(LATENCY, new OneSided(OneSided.Kind.GET, Lane.SHM), Metric.P50, 1);
        var nio = row(LATENCY, NIO, Metric.P50, 10);
        assertEquals(Optional.empty(), Comparison.ratio(List.of(get, nio), get, Metric.P50, "nio"));
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
            row.add(sample(metric, value));
        }
        return row;
    }

    private static Sample sample(Metric metric, double value) {
        return new Sample("lane", "software", 1, 1, Map.of(metric, value), null, null);
    }
}
