// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TextTable;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;

/** What this project wants to reach, and the rows that show whether it does. */
final class Targets {
    private static final int MANY = 16;
    private static final int IDLE_CONNECTIONS = 1000;
    /** The system counts processor time in hundredths of a second, and the least interruption is a per cent of a second. */
    private static final double IDLE_SECONDS = 10;
    private static final int SMALL = 16;
    private static final int MEDIUM = 1024;
    private static final int LARGE = 64 * 1024;
    /** Less than one object in a thousand messages: what starting a phase and the JVM itself do now and then. */
    private static final double NO_ALLOCATION = 0.05;

    private static final Contender SHM = ucx(Lane.SHM);
    private static final Contender TCP = ucx(Lane.TCP);
    private static final Contender NIO = peer(TransportKind.NIO);
    private static final Contender EPOLL = peer(TransportKind.EPOLL);

    private final double seconds;
    private final Set<Work> works;
    private final BiFunction<Scenario, Lane, List<Contender>> limits;
    private final List<Row> rows = new ArrayList<>();
    private final List<Target> targets = new ArrayList<>();

    /**
     * @param seconds that one measurement takes
     * @param works which to include
     * @param perftest where UCX is installed, or {@code null} if there is no {@code ucx_perftest}
     */
    Targets(double seconds, Set<Work> works, Path perftest) {
        this.seconds = seconds;
        this.works = works;
        limits = (scenario, lane) -> perftest == null || !Perftest.knows(scenario) ? List.of()
                : List.of(new Perftest(lane, perftest));
        latency();
        throughput();
        connections();
        sharedCores();
    }

    /** In the order in which they are measured. */
    List<Row> rows() {
        return rows;
    }

    private void latency() {
        roundTrips(SMALL, 1, 1.2);
        roundTrips(LARGE, 1, 12);
        var many = scenario(Work.LATENCY, SMALL, MANY, MANY, 1, "0", "1");
        var ours = row(many, SHM);
        target("16 B, 16 connections on one loop, shm", ours, Metric.RATE, null, 1_200_000);
        comparedOverTcp(many, Metric.RATE, "16 B, 16 connections on one loop");

        var one = row(scenario(Work.LATENCY, SMALL, 1, 1, 1, "0", "1"), SHM);
        var oneOfMany = row(scenario(Work.LATENCY, SMALL, MANY, 1, 1, "0", "1"), SHM);
        target("RTT 16 B, 16 connections and one active, to 1 connection, shm", oneOfMany, Metric.P50, one, 1 / 1.1);
    }

    private void roundTrips(int size, int connections, double micros) {
        var scenario = scenario(Work.LATENCY, size, connections, connections, 1, "0", "1");
        var what = "RTT " + new ByteSize(size);
        var ours = row(scenario, SHM);
        target(what + ", shm", ours, Metric.P50, null, micros);
        target(what + ", shm: allocation", ours, Metric.ALLOCATION, null, NO_ALLOCATION);
        limits.apply(scenario, Lane.SHM).forEach(limit -> row(scenario, limit));
        comparedOverTcp(scenario, Metric.P50, what);
    }

    private void throughput() {
        var small = oneWay(SMALL);
        target("16 B flush 64, shm", row(small, SHM), Metric.RATE, null, 12_000_000);
        target("16 B flush 64, shm: allocation", row(small, SHM), Metric.ALLOCATION, null, NO_ALLOCATION);
        target("1 KiB flush 16, shm", row(oneWay(MEDIUM), SHM), Metric.RATE, null, 4_000_000);
        var large = oneWay(LARGE);
        limits.apply(large, Lane.SHM).forEach(limit ->
                target("64 KiB flush 4, shm", row(large, SHM), Metric.BANDWIDTH, row(large, limit), 0.8));
    }

    private Scenario oneWay(int size) {
        var scenario = scenario(Work.THROUGHPUT, size, 1, 1, 1, "0", "1");
        row(scenario, SHM);
        limits.apply(scenario, Lane.SHM).forEach(limit -> row(scenario, limit));
        comparedOverTcp(scenario, Metric.RATE, new ByteSize(size) + " flush "
                + scenario.flush());
        row(scenario, new Memcpy());
        return scenario;
    }

    private void comparedOverTcp(Scenario scenario, Metric metric, String what) {
        var ours = row(scenario, TCP);
        limits.apply(scenario, Lane.TCP).forEach(limit -> row(scenario, limit));
        for (var peer : List.of(NIO, EPOLL)) {
            target(what + ", tcp", ours, metric, row(scenario, peer), 1);
        }
    }

    private void connections() {
        var memory = row(scenario(Work.MEMORY, SMALL, IDLE_CONNECTIONS, IDLE_CONNECTIONS, 1, "0", "1"), SHM);
        target("memory of an idle connection of 1000, shm", memory, Metric.RSS, null, 32);
        target("descriptors of an idle connection of 1000, shm", memory, Metric.FDS, null, 3);
        row(memory.scenario(), EPOLL);
        var connect = row(scenario(Work.CONNECT, SMALL, MANY, MANY, 1, "0", "1"), SHM);
        target("connections per second, one loop, shm", connect, Metric.RATE, null, 2000);
        row(connect.scenario(), NIO);
        row(connect.scenario(), EPOLL);
        for (var contender : List.of(SHM, TCP)) {
            target("idle CPU with 1000 connections, " + contender.lane(),
                    row(scenario(Work.IDLE, SMALL, IDLE_CONNECTIONS, IDLE_CONNECTIONS, 1, "0", "1"), contender),
                    Metric.IDLE_CPU, null, 1);
        }
    }

    private void sharedCores() {
        notWorseThanEpoll("RTT 16 B, both loops on one core, shm",
                scenario(Work.LATENCY, SMALL, 1, 1, 1, "0", "0"), Metric.P50);
        notWorseThanEpoll("16 B flush 64, both loops on one core, shm",
                scenario(Work.THROUGHPUT, SMALL, 1, 1, 1, "0", "0"), Metric.RATE);
        notWorseThanEpoll("16 B, 4 connections, 4 loops each on 2 cores, shm",
                scenario(Work.LATENCY, SMALL, 4, 4, 4, "0,1", "0,1"), Metric.RATE);
    }

    private void notWorseThanEpoll(String what, Scenario scenario, Metric metric) {
        var ours = row(scenario, SHM);
        target(what, ours, metric, row(scenario, EPOLL), 1);
    }

    private Scenario scenario(Work work, int size, int connections, int active, int loops, String server,
                              String client) {
        return new Scenario(work, size, connections, active, loops,
                work == Work.LATENCY ? 1 : Scenario.defaultFlush(size), 0, 0,
                work == Work.IDLE ? Math.max(seconds, IDLE_SECONDS) : seconds, server, client);
    }

    private static Contender ucx(Lane lane) {
        return new NettyContender(new Setting(TransportKind.UCX, lane, WaitMode.ADAPTIVE));
    }

    private static Contender peer(TransportKind kind) {
        return new NettyContender(new Setting(kind, Lane.AUTO, null));
    }

    /** The row of the two, of which there is one. */
    private Row row(Scenario scenario, Contender contender) {
        for (var row : rows) {
            if (row.scenario().equals(scenario) && row.contender().equals(contender)) {
                return row;
            }
        }
        var row = new Row(scenario, contender);
        if (works.contains(scenario.work())) {
            // Beside its own scenario, wherever that was left.
            var last = rows.size();
            while (last > 0 && !rows.get(last - 1).scenario().equals(scenario)) {
                last--;
            }
            rows.add(last == 0 ? rows.size() : last, row);
        }
        return row;
    }

    private void target(String what, Row row, Metric metric, Row reference, double bound) {
        if (works.contains(row.scenario().work())) {
            targets.add(new Target(what, row, metric, reference, bound));
        }
    }

    List<Target> targets() {
        return targets;
    }

    static String render(List<Target> targets) {
        var table = new TextTable().left("target").right("goal").right("measured").left("min..max").left("met");
        for (var target : targets) {
            table.row(List.of(target.what(), target.goal(), target.result(), target.range(),
                    target.isMet().map(met -> met ? "yes" : "NO").orElse("?")));
        }
        return table.render();
    }
}
