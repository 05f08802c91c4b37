// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Count;
import io.github.nettyucx.examples.Security;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command of a work: makes scenarios of its options and has them measured. */
@Command(sortOptions = false, sortSynopsis = false, defaultValueProvider = Benchmark.Defaults.class)
abstract class WorkCommand implements Callable<Integer> {
    @Mixin
    CommonOptions common;

    @Option(names = "--plain",
            description = "Measure epoll's clients of a ucx server, too: ordinary TCP at the same port.")
    private boolean plain;

    @Option(names = "--aeron",
            description = "Measure Aeron over shared memory, too: one connection and messages of up to 1 KiB, latency and "
                    + "throughput.")
    private boolean aeron;

    private final Work work;

    WorkCommand(Work work) {
        this.work = work;
    }

    @Override
    public Integer call() throws InterruptedException {
        common.validate();
        if (aeron && scenarios().stream().noneMatch(AeronIpc::knows)) {
            throw common.rejected("--aeron is about latency and throughput on one connection, without TLS and with messages "
                    + "of up to 1 KiB, and nothing of that is to be measured. Leave --aeron out, or measure that.");
        }
        return new Report(common.output).measure(rows(), List.of());
    }

    final List<Row> rows() {
        var rows = new ArrayList<Row>();
        for (var scenario : scenarios()) {
            common.contenders().forEach(contender -> rows.add(new Row(scenario, contender)));
            if (plain) {
                rows.add(new Row(scenario, NettyContender.plainClients()));
            }
            limits(scenario).forEach(contender -> rows.add(new Row(scenario, contender)));
        }
        return rows;
    }

    private List<Contender> limits(Scenario scenario) {
        var limits = new ArrayList<Contender>();
        var home = Perftest.bundled();
        if (common.hasUcx() && home != null) {
            common.lanes().stream().filter(lane -> Perftest.knows(scenario, lane))
                    .forEach(lane -> limits.add(new Perftest(lane, home)));
        }
        if (aeron && AeronIpc.knows(scenario)) {
            limits.add(new AeronIpc());
        }
        if (Memcpy.knows(scenario)) {
            limits.add(new Memcpy());
        }
        return limits;
    }

    abstract List<Scenario> scenarios();

    final Scenario scenario(int size, int connections, int active, int flush, long operations) {
        return new Scenario(work, size, connections, active, loops(), flush, receiveBuffer(), operations,
                common.output.seconds(), common.pinning().server(), common.pinning().client());
    }

    int loops() {
        return 1;
    }

    int receiveBuffer() {
        return 0;
    }

    /** Where each side may have several event loops. */
    abstract static class WithLoops extends WorkCommand {
        @Option(names = "--loops", paramLabel = "N", converter = Count.OfThreads.class,
                description = "Event loops on each side; connections are spread over them. Default: 1.")
        private long loops = 1;

        WithLoops(Work work) {
            super(work);
        }

        @Override
        final int loops() {
            return Math.toIntExact(loops);
        }
    }

    /** Where there are given numbers of connections, which can be made in another way. */
    abstract static class WithConnections extends WithLoops {
        @Option(names = "--connections", paramLabel = "N[,N]", hideParamSyntax = true, split = ",",
                converter = Count.OfConnections.class,
                description = "Connections; several with commas. Default: ${DEFAULT-VALUE}.")
        List<Long> connections;

        @Option(names = "--rcvbuf", paramLabel = "BYTES",
                description = "SO_RCVBUF of all connections: ucx's receive window, the kernel's buffer of the others. "
                        + "Default: what the transport chooses.")
        private ByteSize receiveBuffer;

        private WithConnections(Work work) {
            super(work);
        }

        @Override
        final int receiveBuffer() {
            return receiveBuffer == null ? 0 : receiveBuffer.bytes();
        }
    }

    /** With messages of given sizes. */
    abstract static class WithMessages extends WithConnections {
        @Option(names = "--size", paramLabel = "N[,N]", hideParamSyntax = true, split = ",",
                converter = Sizes.Converter.class,
                description = "Bytes in a message: 16, 1k, 1m; several with commas; 1..1m for all powers of two "
                        + "between. Default: ${DEFAULT-VALUE}.")
        List<Sizes> sizes;

        @Option(names = "--operations", paramLabel = "N", converter = Count.OfIterations.class,
                description = "Measured messages on each connection, instead of --seconds. A tenth of them goes "
                        + "before as warm-up.")
        private Long operations;

        @Option(names = "--tls", description = "Encrypt all connections, by the JDK's TLS.")
        private boolean tls;

        private WithMessages(Work work) {
            super(work);
        }

        int active(int connections) {
            return connections;
        }

        int flush(int size) {
            return Scenario.defaultFlush(size);
        }

        @Override
        List<Scenario> scenarios() {
            var scenarios = new ArrayList<Scenario>();
            for (var size : Sizes.flatten(sizes)) {
                for (var count : connections) {
                    scenarios.add(scenario(size, Math.toIntExact(count), active(Math.toIntExact(count)), flush(size),
                            operations == null ? 0 : operations)
                            .with(tls ? Security.TLS : Security.PLAINTEXT));
                }
            }
            return scenarios;
        }
    }

    @Command(name = "latency",
            description = "Round trips: each connection has one message under way, to the server and back.%n")
    static final class Latency extends WithMessages {
        @Option(names = "--active", paramLabel = "N", converter = Count.OfConnections.class,
                description = "How many of the connections are in use. Default: all.")
        private Long active;

        Latency() {
            super(Work.LATENCY);
        }

        @Override
        int active(int connections) {
            if (active != null && active > connections) {
                throw common.rejected("--active " + active + " is more than --connections " + connections + ".");
            }
            return active == null ? connections : Math.toIntExact(active);
        }

        @Override
        int flush(int size) {
            return 1;
        }
    }

    /** Where messages are flushed together. */
    abstract static class WithFlush extends WithMessages {
        @Option(names = "--flush", paramLabel = "N", converter = Count.OfConnections.class,
                description = "Messages that are written between two flushes. Default: 64 below 1k, 16 below 64k, "
                        + "4 from there on.")
        private Long flush;

        private WithFlush(Work work) {
            super(work);
        }

        @Override
        final int flush(int size) {
            return flush == null ? Scenario.defaultFlush(size) : Math.toIntExact(flush);
        }
    }

    @Command(name = "throughput",
            description = "One direction: the client sends while it may, the server counts.%n")
    static final class Throughput extends WithFlush {
        Throughput() {
            super(Work.THROUGHPUT);
        }
    }

    @Command(name = "bidirectional",
            description = "Both directions at the same time; figures are of both together.%n")
    static final class Bidirectional extends WithFlush {
        Bidirectional() {
            super(Work.BIDIRECTIONAL);
        }
    }

    @Command(name = "fairness",
            description = "One connection sends all it can, the others take turns to make a round trip of 16 bytes; "
                    + "times are those of the round trips.%n")
    static final class Fairness extends WithFlush {
        Fairness() {
            super(Work.FAIRNESS);
        }

        @Override
        List<Scenario> scenarios() {
            if (connections.contains(1L)) {
                throw common.rejected("--connections 1 leaves nobody to be treated fairly. Expected 2 or more.");
            }
            return super.scenarios();
        }
    }

    @Command(name = "many",
            description = "Round trips on one of many connections of one loop, all others of which make one a minute.%n")
    static final class Many extends WithMessages {
        Many() {
            super(Work.MANY);
        }

        @Override
        int active(int connections) {
            return 1;
        }

        @Override
        int flush(int size) {
            return 1;
        }
    }

    /** Where connections matter, and not what they carry. */
    abstract static class WithoutMessages extends WithConnections {
        private WithoutMessages(Work work) {
            super(work);
        }

        @Override
        List<Scenario> scenarios() {
            return connections.stream().map(Math::toIntExact).map(count -> scenario(16, count, count, 1, 0)).toList();
        }
    }

    @Command(name = "connect",
            description = "Connections per second: each is closed as soon as it is made; --connections says how many "
                    + "are made at the same time.%n")
    static final class Connect extends WithoutMessages {
        Connect() {
            super(Work.CONNECT);
        }
    }

    @Command(name = "start",
            description = "How long processes take to start, and how much memory: a server until it listens, a client "
                    + "until its first message has come back.%n")
    static final class Start extends WorkCommand {
        @Option(names = "--aot",
                description = "Measure it with AOT caches of the JDK's, too, which earlier runs of the processes make.")
        private boolean aot;

        Start() {
            super(Work.START);
        }

        @Override
        List<Scenario> scenarios() {
            var start = scenario(16, 1, 1, 1, 0);
            return aot ? List.of(start, start.of(Work.START_AOT)) : List.of(start);
        }
    }

    @Command(name = "first-second",
            description = "What two processes do in the second after their first message, in which the JVM still compiles: "
                    + "round trips of 16 bytes, and messages of 16 bytes one way. The first 100 ms count apart.%n")
    static final class FirstSecond extends WorkCommand {
        FirstSecond() {
            super(Work.FIRST_LATENCY);
        }

        @Override
        List<Scenario> scenarios() {
            return List.of(scenario(16, 1, 1, 1, 0),
                    scenario(16, 1, 1, Scenario.defaultFlush(16), 0).of(Work.FIRST_THROUGHPUT));
        }
    }

    @Command(name = "memory",
            description = "Memory and file descriptors of idle connections that have been used once.%n")
    static final class Memory extends WithoutMessages {
        Memory() {
            super(Work.MEMORY);
        }
    }

    @Command(name = "idle",
            description = "Processor time that idle connections take.%n")
    static final class Idle extends WithoutMessages {
        Idle() {
            super(Work.IDLE);
        }
    }
}
