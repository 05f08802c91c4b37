// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Security;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TextTable;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** What this project wants to reach, and the rows that show whether it does. */
final class Targets {
    private static final int MANY = 16;
    private static final int IDLE_CONNECTIONS = 1000;
    private static final int CROWD = 10_000;
    /** The system counts processor time in hundredths of a second, and the least interruption is a per cent of a second. */
    private static final double IDLE_SECONDS = 10;
    /** With gRPC's own threads a rate of one second can be two thirds of that of five: much more has to be compiled. */
    private static final double CALL_SECONDS = 5;
    private static final int SMALL = 16;
    /** What a message of gRPC carries. */
    private static final int PAYLOAD = 100;
    private static final int CALLS = 32;
    private static final int MEDIUM = 1024;
    private static final int LARGE = 64 * 1024;
    private static final int LARGEST = 1024 * 1024;
    /** Less than one object in a thousand messages: what starting a phase and the JVM itself do now and then. */
    private static final double NO_ALLOCATION = 0.05;

    private static final Contender SHM = ucx(Lane.SHM);
    private static final Contender TCP = ucx(Lane.TCP);
    private static final Contender SOCKET = ucx(Lane.SOCKET);
    /** A server of this transport, and clients that know nothing of it. */
    private static final Contender PLAIN = NettyContender.plainClients();
    private static final Contender NIO = peer(TransportKind.NIO);
    private static final Contender EPOLL = peer(TransportKind.EPOLL);
    private static final Contender IO_URING = peer(TransportKind.IO_URING);
    private static final List<Contender> PEERS = List.of(NIO, EPOLL, IO_URING);
    private static final List<Contender> OURS = List.of(SHM, SOCKET);

    private final double seconds;
    private final TargetList list;
    private final Path perftest;

    /**
     * @param seconds that one measurement takes
     * @param works which to include
     * @param oneSided whether to include operations on a peer's memory
     * @param perftest where UCX is installed, or {@code null} if there is no {@code ucx_perftest}
     */
    Targets(double seconds, Set<Work> works, boolean oneSided, Path perftest) {
        this.seconds = seconds;
        this.perftest = perftest;
        list = new TargetList(works);
        latency();
        throughput();
        connections();
        sharedCores();
        starts();
        firstSeconds();
        encrypted();
        calls();
        messaging();
        applications();
        if (oneSided) {
            oneSided();
        }
    }

    /** In the order in which they are measured. */
    List<Row> rows() {
        return list.rows();
    }

    List<Target> targets() {
        return list.targets();
    }

    private void latency() {
        var small = roundTrips(SMALL);
        beyondLimit("RTT 16 B, shm", small, 0.5);
        row(small, new AeronIpc());
        var large = roundTrips(LARGE);
        ofLimit("RTT 64 KiB, shm", large, SHM, Metric.P50, 1 / 1.1);
        var largest = roundTrips(LARGEST);
        ofLimit("RTT 1 MiB, shm", largest, SHM, Metric.P50, 0.9);
        ofLimit("RTT 1 MiB, tcp", largest, TCP, Metric.P50, 0.9);

        var many = scenario(Work.LATENCY, SMALL, MANY, MANY, 1, "0", "1");
        var ours = row(many, SHM);
        target("16 B, 16 connections on one loop, shm", ours, Metric.RATE, null, 2_200_000);
        otherLanes(many, "16 B, 16 connections on one loop", Metric.RATE);
        tails("16 B, 16 connections on one loop", many);
        target("16 B, 16 connections on one loop, shm", ours, Metric.RATE, row(many, EPOLL), 14);
        allocation("16 B, 16 connections on one loop", many);

        var one = row(scenario(Work.LATENCY, SMALL, 1, 1, 1, "0", "1"), SHM);
        var oneOfMany = row(scenario(Work.LATENCY, SMALL, MANY, 1, 1, "0", "1"), SHM);
        target("RTT 16 B, 16 connections and one active, to 1 connection, shm", oneOfMany, Metric.P50, one, 1 / 1.1);
    }

    private Scenario roundTrips(int size) {
        var scenario = scenario(Work.LATENCY, size, 1, 1, 1, "0", "1");
        var what = "RTT " + new ByteSize(size);
        row(scenario, SHM);
        limit(scenario, Lane.SHM);
        allocation(what, scenario);
        otherLanes(scenario, what, Metric.P50);
        tails(what, scenario);
        return scenario;
    }

    private void throughput() {
        var small = oneWay(SMALL);
        target("16 B flush 64, shm", row(small, SHM), Metric.RATE, null, 18_000_000);
        beyondPeers("16 B flush 64, shm", small, SHM, Metric.RATE, 3);
        var medium = oneWay(MEDIUM);
        target("1 KiB flush 16, shm", row(medium, SHM), Metric.RATE, null, 6_000_000);
        beyondPeers("1 KiB flush 16, shm", medium, SHM, Metric.RATE, 4);
        var large = oneWay(LARGE);
        ofLimit("64 KiB flush 4, shm", large, SHM, Metric.BANDWIDTH, 0.9);
        var largest = oneWay(LARGEST);
        ofLimit("1 MiB flush 4, shm", largest, SHM, Metric.BANDWIDTH, 0.9);
        ofLimit("1 MiB flush 4, tcp", largest, TCP, Metric.BANDWIDTH, 0.9);
    }

    private Scenario oneWay(int size) {
        var scenario = scenario(Work.THROUGHPUT, size, 1, 1, 1, "0", "1");
        var what = new ByteSize(size) + " flush " + scenario.flush();
        row(scenario, SHM);
        limit(scenario, Lane.SHM);
        otherLanes(scenario, what, Metric.RATE);
        if (AeronIpc.knows(scenario)) {
            row(scenario, new AeronIpc());
        }
        row(scenario, new Memcpy());
        allocation(what, scenario);
        return scenario;
    }

    /** Lanes that do not need one host, and who else has them. Lane socket is to be what any peer is, or better. */
    private void otherLanes(Scenario scenario, String what, Metric metric) {
        row(scenario, TCP);
        limit(scenario, Lane.TCP);
        beyondPeers(what + ", socket", scenario, SOCKET, metric, 1);
        target(what + ", epoll's clients", row(scenario, PLAIN), metric, row(scenario, EPOLL), 1);
    }

    /** What the slowest of a thousand round trips takes. */
    private void tails(String what, Scenario scenario) {
        for (var ours : OURS) {
            beyondPeers(what + ", " + ours.lane() + ": p99.9", scenario, ours, Metric.P999, 1);
        }
    }

    private void allocation(String what, Scenario scenario) {
        for (var ours : OURS) {
            target(what + ", " + ours.lane() + ": allocation", row(scenario, ours), Metric.ALLOCATION, null,
                    NO_ALLOCATION);
        }
    }

    private void beyondPeers(String what, Scenario scenario, Contender ours, Metric metric, double bound) {
        for (var peer : PEERS) {
            target(what, row(scenario, ours), metric, row(scenario, peer), bound);
        }
    }

    private void limit(Scenario scenario, Lane lane) {
        if (perftest != null && Perftest.knows(scenario, lane)) {
            row(scenario, new Perftest(lane, perftest));
        }
    }

    private void ofLimit(String what, Scenario scenario, Contender ours, Metric metric, double bound) {
        if (perftest != null) {
            target(what, row(scenario, ours), metric,
                    row(scenario, new Perftest(ours == SHM ? Lane.SHM : Lane.TCP, perftest)), bound);
        }
    }

    private void beyondLimit(String what, Scenario scenario, double micros) {
        if (perftest != null) {
            beyond(what, row(scenario, SHM), Metric.P50, row(scenario, new Perftest(Lane.SHM, perftest)), micros);
        }
    }

    private void beyond(String what, Row row, Metric metric, Row reference, double excess) {
        list.target(new Target(what, row, metric, reference, Target.Kind.EXCESS, excess));
    }

    private void connections() {
        var memory = scenario(Work.MEMORY, SMALL, CROWD, CROWD, 1, "0", "1");
        var fewer = scenario(Work.MEMORY, SMALL, IDLE_CONNECTIONS, IDLE_CONNECTIONS, 1, "0", "1");
        var idle = scenario(Work.IDLE, SMALL, IDLE_CONNECTIONS, IDLE_CONNECTIONS, 1, "0", "1");
        for (var contender : OURS) {
            var what = " of an idle connection of 10,000, " + contender.lane();
            target("memory" + what, row(memory, contender), Metric.PSS, null, 8);
            target("descriptors" + what, row(memory, contender), Metric.FDS, null, 1.01);
            target("idle CPU with 1000 connections, " + contender.lane(), row(idle, contender), Metric.IDLE_CPU, null,
                    0.3);
            row(fewer, contender);
        }
        row(memory, EPOLL);
        row(fewer, EPOLL);
        row(idle, EPOLL);
        var connect = scenario(Work.CONNECT, SMALL, MANY, MANY, 1, "0", "1");
        for (var contender : List.of(SHM, SOCKET, PLAIN)) {
            target("connections per second, one loop, " + (contender == PLAIN ? "epoll's clients" : contender.lane()),
                    row(connect, contender), Metric.RATE, row(connect, EPOLL), 0.7);
        }
        row(connect, NIO);
        row(connect, IO_URING);
        crowd();
    }

    private void crowd() {
        var crowd = scenario(Work.MANY, SMALL, CROWD, 1, 1, "0", "1");
        var one = scenario(Work.LATENCY, SMALL, 1, 1, 1, "0", "1");
        for (var contender : List.of(SHM, SOCKET, EPOLL)) {
            // Without its work there is nothing to compare.
            var alone = list.wants(Work.MANY) ? list.required(one, contender) : row(one, contender);
            target("RTT 16 B among 10,000 connections, to 1 connection, " + (contender == EPOLL ? "epoll"
                    : contender.lane()), row(crowd, contender), Metric.P50, alone, 1 / 1.1);
        }
        beyondPeers("RTT 16 B among 10,000 connections, socket", crowd, SOCKET, Metric.P50, 1);
        tails("RTT 16 B among 10,000 connections", crowd);
    }

    private void sharedCores() {
        var alone = scenario(Work.LATENCY, SMALL, 1, 1, 1, "0", "0");
        sharedCores("RTT 16 B, both loops on one core", alone, Metric.P50);
        tails("RTT 16 B, both loops on one core", alone);
        sharedCores("16 B flush 64, both loops on one core", scenario(Work.THROUGHPUT, SMALL, 1, 1, 1, "0", "0"),
                Metric.RATE);
        var several = scenario(Work.LATENCY, SMALL, 4, 4, 4, "0,1", "0,1");
        sharedCores("16 B, 4 connections, 4 loops each on 2 cores", several, Metric.RATE);
        tails("16 B, 4 connections, 4 loops each on 2 cores", several);
    }

    private void sharedCores(String what, Scenario scenario, Metric metric) {
        againstEpoll(what + ", shm", scenario, metric, 1.1);
        beyondPeers(what + ", socket", scenario, SOCKET, metric, 1);
    }

    private void starts() {
        var start = scenario(Work.START, SMALL, 1, 1, 1, "0,1", "0,1");
        var epoll = row(start, EPOLL);
        for (var contender : OURS) {
            beyond("a server's start, " + contender.lane(), row(start, contender), Metric.LISTENING, epoll, 100);
            beyond("a client's start, " + contender.lane(), row(start, contender), Metric.FIRST_ECHO, epoll, 100);
            beyond("memory of a server that has started, " + contender.lane(), row(start, contender), Metric.RESIDENT,
                    epoll, 16);
        }
        row(start, NIO);
        var cached = start.of(Work.START_AOT);
        beyond("a server's start with an AOT cache, shm", row(cached, SHM), Metric.LISTENING, row(cached, EPOLL), 30);
        beyond("a client's start with an AOT cache, shm", row(cached, SHM), Metric.FIRST_ECHO, row(cached, EPOLL), 30);
    }

    private void firstSeconds() {
        for (var work : List.of(Work.FIRST_LATENCY, Work.FIRST_THROUGHPUT)) {
            var scenario = scenario(work, SMALL, 1, 1, 1, "0", "1");
            var what = work == Work.FIRST_LATENCY ? "RTT 16 B" : "16 B flush 64";
            for (var ours : OURS) {
                // Lane socket is to be what any peer is, or better.
                var bound = ours == SHM ? 2 : 1;
                beyondPeers("the first 100 ms, " + what + ", " + ours.lane(), scenario, ours, Metric.EARLY_RATE, bound);
                beyondPeers("the first second from 100 ms on, " + what + ", " + ours.lane(), scenario, ours, Metric.RATE,
                        bound);
            }
        }
    }

    private void encrypted() {
        var roundTrip = scenario(Work.LATENCY, SMALL, 1, 1, 1, "0", "1").with(Security.TLS);
        againstEpoll("RTT 16 B, TLS, shm", roundTrip, Metric.P50, 1);
        beyondPeers("RTT 16 B, TLS, socket", roundTrip, SOCKET, Metric.P50, 1);
        tails("RTT 16 B, TLS", roundTrip);
        var oneWay = scenario(Work.THROUGHPUT, LARGE, 1, 1, 1, "0", "1").with(Security.TLS);
        againstEpoll("64 KiB flush 4, TLS, shm", oneWay, Metric.RATE, 1);
        beyondPeers("64 KiB flush 4, TLS, socket", oneWay, SOCKET, Metric.RATE, 1);
    }

    private void calls() {
        for (var security : Security.values()) {
            for (var executor : CallExecutor.values()) {
                var plainAndDirect = security == Security.PLAINTEXT && executor == CallExecutor.DIRECT;
                calls(Work.GRPC_UNARY, 1, executor, security, plainAndDirect ? 8 : 1);
                calls(Work.GRPC_STREAM, 1, executor, security, plainAndDirect ? 15 : 1);
                calls(Work.GRPC_UNARY, CALLS, executor, security, 1);
            }
        }
    }

    /** Against epoll alone, which is what gRPC takes by itself. */
    private void calls(Work work, int atATime, CallExecutor executor, Security security, double bound) {
        var scenario = scenario(work, PAYLOAD, 1, atATime, 1, "0", "1").with(executor).with(security);
        for (var ours : OURS) {
            var what = work + " " + new ByteSize(PAYLOAD) + ", " + atATime + " at a time, " + executor + " executor"
                    + (security == Security.TLS ? ", TLS" : "") + ", " + ours.lane();
            target(what, row(scenario, ours), Metric.RATE, row(scenario, EPOLL), ours == SHM ? bound : 1);
            target(what + ": p99.9", row(scenario, ours), Metric.P999, row(scenario, EPOLL), 1);
        }
    }

    private void messaging() {
        var messages = scenario(Work.MESSAGES, SMALL, 1, 4, 1, null, null);
        var ours = row(messages, messaging(MessagingWay.MESSAGING));
        var what = "messages of 16 B from 4 threads, shm";
        target(what, ours, Metric.RATE, null, 10_000_000);
        target(what, ours, Metric.RATE, row(messages, messaging(MessagingWay.WRITE_AND_FLUSH)), 4);
        target(what + ": allocation", ours, Metric.ALLOCATION, null, NO_ALLOCATION);
        var calls = scenario(Work.MESSAGE_CALLS, SMALL, 1, 1, 1, "0", "1");
        if (list.wants(Work.MESSAGE_CALLS)) {
            target("calls of 16 B on the loop, to round trips, shm", row(calls, messaging(MessagingWay.MESSAGING_LOOP)),
                    Metric.P50, list.required(scenario(Work.LATENCY, SMALL, 1, 1, 1, "0", "1"), SHM), 1 / 1.5);
            row(calls, messaging(MessagingWay.MESSAGING));
        }
    }

    private static Contender messaging(MessagingWay way) {
        return new MessagingContender(new Setting(TransportKind.UCX, Lane.SHM, WaitMode.ADAPTIVE), way);
    }

    private void applications() {
        var scenario = ApplicationsCommand.scenario(secondsOf(Work.APPLICATIONS), "0,1", "0,1");
        var without = row(scenario, new Ratis(false));
        ApplicationsCommand.targets(row(scenario, new Ratis(true)), without).forEach(list::target);
    }

    private void oneSided() {
        for (var measured : OneSidedTargets.measured()) {
            var scenario = scenario(measured.work(), measured.size(), 1, 1, 1, "0", "1");
            list.required(scenario, new OneSided(measured.kind(), Lane.SHM));
            var limit = measured.kind().limit(measured.work());
            if (perftest != null && limit != null) {
                list.required(scenario, new Perftest(Lane.SHM, perftest, limit));
            }
            if (measured.kind() == OneSided.Kind.PUT_AND_NOTIFY) {
                list.required(scenario, SHM);
            }
        }
        OneSidedTargets.among(list.rows()).forEach(list::target);
    }

    private void againstEpoll(String what, Scenario scenario, Metric metric, double bound) {
        target(what, row(scenario, SHM), metric, row(scenario, EPOLL), bound);
    }

    private Scenario scenario(Work work, int size, int connections, int active, int loops, String server,
                              String client) {
        return new Scenario(work, size, connections, active, loops,
                work.isOfRoundTrips() || work.isOfCalls() || work.isOfMessaging() ? 1 : Scenario.defaultFlush(size), 0, 0,
                secondsOf(work), server, client);
    }

    private double secondsOf(Work work) {
        return work == Work.IDLE ? Math.max(seconds, IDLE_SECONDS)
                : work.isOfCalls() || work == Work.APPLICATIONS ? Math.max(seconds, CALL_SECONDS) : seconds;
    }

    private static Contender ucx(Lane lane) {
        return new NettyContender(new Setting(TransportKind.UCX, lane, WaitMode.ADAPTIVE));
    }

    private static Contender peer(TransportKind kind) {
        return new NettyContender(new Setting(kind, Lane.AUTO, null));
    }

    private Row row(Scenario scenario, Contender contender) {
        return list.row(scenario, contender);
    }

    private void target(String what, Row row, Metric metric, Row reference, double bound) {
        list.target(new Target(what, row, metric, reference, bound));
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
