// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pictures, drawn from figures that nobody has measured. */
class SvgChartsTest {
    private static final List<String> COLOURS = List.of("rgb(0,80,181)", "rgb(86,180,233)", "rgb(213,94,0)", "rgb(0,158,115)",
            "rgb(230,184,0)");

    @TempDir
    private Path directory;

    private static ResultFile result(Work work, boolean others) {
        var contenders = new ArrayList<Contender>();
        for (var lane : List.of(Lane.SHM, Lane.SOCKET)) {
            contenders.add(new NettyContender(new Setting(TransportKind.UCX, lane, WaitMode.ADAPTIVE)));
        }
        for (var peer : List.of(TransportKind.NIO, TransportKind.EPOLL, TransportKind.IO_URING)) {
            contenders.add(new NettyContender(new Setting(peer, Lane.AUTO, null)));
        }
        contenders.add(new Perftest(Lane.SHM, Path.of("")));
        if (others) {
            contenders.add(new OneSided(OneSided.Kind.PUT_AND_NOTIFY, Lane.SHM));
            contenders.add(new Perftest(Lane.SHM, Path.of(""), "ucp_put_lat"));
        }
        var rows = new ArrayList<ResultFile.Result>();
        for (var size : Sizes.parse("1..1m").bytes()) {
            for (var i = 0; i < contenders.size(); i++) {
                var row = new Row(new Scenario(work, size, 1, 1, 1, 1, 0, 0, 1, null, null), contenders.get(i));
                var micros = (i + 1) * (1 + size / 10_000.0);
                row.add(new Sample("-", "-", 1, 1, work == Work.LATENCY ? Map.of(Metric.P50, micros)
                        : Map.of(Metric.BANDWIDTH, size / micros / 1000), null, null));
                rows.add(ResultFile.Result.of(row));
            }
        }
        return new ResultFile(Instant.EPOCH, Instant.EPOCH, true, List.of(), List.of(), Machine.current(), 1, rows, List.of());
    }

    @Test
    void eachContenderHasItsColourInBothPictures() throws Exception {
        for (var work : List.of(Work.LATENCY, Work.THROUGHPUT)) {
            SvgCharts.write(result(work, false), directory);
            var picture = Files.readString(directory.resolve(work + ".svg"));
            for (var colour : COLOURS) {
                assertTrue(picture.contains("stroke:" + colour), work + " without " + colour);
            }
        }
        assertFalse(Files.exists(directory.resolve("bidirectional.svg")));
    }

    /** Otherwise they would be one line, with the figures of the last. */
    @Test
    void eachWayToWaitIsALine() throws Exception {
        var rows = new ArrayList<ResultFile.Result>();
        for (var size : List.of(16, 1024, 65_536)) {
            for (var wait : WaitMode.values()) {
                var row = new Row(new Scenario(Work.LATENCY, size, 1, 1, 1, 1, 0, 0, 1, null, null),
                        new NettyContender(new Setting(TransportKind.UCX, Lane.SHM, wait)));
                row.add(new Sample("-", "-", 1, 1, Map.of(Metric.P50, size * (1.0 + wait.ordinal())), null, null));
                rows.add(ResultFile.Result.of(row));
            }
        }
        var result = result(Work.LATENCY, false);
        SvgCharts.write(new ResultFile(result.started(), result.finished(), true, List.of(), List.of(), result.machine(),
                1, rows, List.of()), directory);
        var picture = Files.readString(directory.resolve("latency.svg"));
        // Of the one contender's colour.
        var strokes = Pattern.compile("<line style=\"([^\"]*stroke:rgb\\(0,80,181\\)[^\"]*)\"").matcher(picture).results()
                .map(line -> line.group(1)).distinct().toList();
        assertEquals(WaitMode.values().length, strokes.size(), strokes.toString());
    }

    /** They would be a line of their own, of another matter. */
    @Test
    void operationsOnMemoryAreNotDrawnBesideThePeers() throws Exception {
        SvgCharts.write(result(Work.LATENCY, false), directory);
        var without = Files.readString(directory.resolve("latency.svg"));
        SvgCharts.write(result(Work.LATENCY, true), directory);
        assertEquals(without, Files.readString(directory.resolve("latency.svg")));
    }
}
