// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Console;
import io.github.nettyucx.examples.Count;
import io.github.nettyucx.examples.ExampleRunner;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.PairCommand;
import io.github.nettyucx.examples.Progress;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TextTable;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import io.github.nettyucx.examples.log.broker.BrokerSettings;
import io.github.nettyucx.examples.log.broker.LogBroker;
import io.github.nettyucx.examples.log.cluster.ClusterSettings;
import io.github.nettyucx.examples.log.cluster.Node;
import io.github.nettyucx.examples.log.storage.Durability;
import io.github.nettyucx.examples.log.storage.Records;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A log of records, produced and consumed by message and through memory: the command line of it. */
@Command(
        description = {
            "A log of records on a broker, or on several. Producers and consumers send messages, or write and read the broker's "
                    + "memory.%n",
            "Without --server or --connect: starts a broker and its clients as processes on this host, for one way "
                    + "after the other, and compares them.%n"},
        customSynopsis = {
            "./run-example.sh log [OPTION]...",
            "       ./run-example.sh log --server HOST:PORT --directory DIR [OPTION]...",
            "       ./run-example.sh log --server HOST:PORT --directory DIR --cluster NAME --nodes NODE,NODE,NODE "
                    + "[OPTION]...",
            "       ./run-example.sh log --demo [--seconds N]",
            "       ./run-example.sh log --connect HOST:PORT --produce WAY [OPTION]...",
            "       ./run-example.sh log --connect HOST:PORT --consume WAY [OPTION]...",
            "       ./run-example.sh log --connect HOST:PORT --fetch WAY [OPTION]...",
            ""},
        sortOptions = false,
        footer = {
            "",
            "Ways: message, exclusive (one producer writes into the segment), shared (any number do). Consumers read "
                    + "memory with the last two.",
            "",
            "Examples:",
            "  ./run-example.sh log",
            "  ./run-example.sh log --table produce,consume --size 64,512 --json log.json",
            "  ./run-example.sh log --demo",
            "  ./run-example.sh log --way shared --size 32,1k --transport ucx",
            "  ./run-example.sh log --server 0.0.0.0:7777 --directory /var/lib/record-log",
            "  ./run-example.sh log --server node1:7777 --directory /var/lib/record-log --cluster orders "
                    + "--nodes node1:7777/7778,node2:7777/7778,node3:7777/7778",
            "  ./run-example.sh log --connect node1:7777 --produce shared --size 1k --in-flight 64"})
public final class RecordLog extends PairCommand {
    private static final String NAME = "log";
    private static final int LEAST_NODES = 3;
    private static final int DEMO_SECONDS = 5;
    private static final List<Integer> SIZES = List.of(32, 64, 512, 2 << 10, 8 << 10, 32 << 10, 128 << 10);
    private static final List<Integer> BATCHES = List.of(1, 8, 64, 256);
    private static final List<Integer> REPLICAS = List.of(1, 2, 3);

    @Option(names = "--connect", paramLabel = "HOST:PORT", description = "Measure with the broker at this address.")
    private HostAndPort connect;

    @Option(names = "--produce", paramLabel = "WAY", description = "With --connect: append records.")
    private LogWay produce;

    @Option(names = "--consume", paramLabel = "WAY",
            description = "With --connect: read the records that a producer with --clients 2 appends.")
    private LogWay consume;

    @Option(names = "--fetch", paramLabel = "WAY",
            description = "With --connect: read records that are there already, one at a time, and then look for more in "
                    + "vain.")
    private LogWay fetch;

    @Option(names = "--directory", paramLabel = "DIR",
            description = "Where the broker keeps its files. Default on this host: a directory that is deleted in the end.")
    private Path directory;

    @Option(names = "--segment", paramLabel = "N", description = "Bytes in a segment. Default: 16m.")
    private ByteSize segment;

    @Option(names = "--force",
            description = "Acknowledge what is on disk, not what the operating system has.")
    private boolean force;

    @Option(names = "--follower", paramLabel = "HOST:PORT[,HOST:PORT]", hideParamSyntax = true, split = ",",
            description = "With --server, and ucx: brokers that get every record, each with a --server of its own; several "
                    + "with commas. Records are committed when all that are in sync have them.")
    private List<HostAndPort> followers;

    @Option(names = "--cluster", paramLabel = "NAME",
            description = "With --server, --nodes and ucx: be one of several brokers that choose their leader by Raft. All "
                    + "are started with the same name.")
    private String cluster;

    @Option(names = "--nodes", paramLabel = "HOST:PORT/RAFTPORT[,...]", hideParamSyntax = true, split = ",",
            converter = Node.Converter.class,
            description = "With --cluster: all its brokers, this one too, three or more: where each serves, and the port of "
                    + "its Raft server.")
    private List<Node> nodes;

    @Option(names = "--patience", paramLabel = "N", converter = Count.OfThreads.class,
            description = "With --follower or --cluster: how many seconds a follower may be silent before the others go on "
                    + "without it. Default: 10.")
    private Long patience;

    @Option(names = "--demo",
            description = "Start three such brokers on this host, kill the leader while records are produced, start it again, "
                    + "and look whether all is there.")
    private boolean demo;

    @Option(names = "--min-followers", paramLabel = "N", converter = Count.OfWarmup.class,
            description = "With --follower or --cluster: commit nothing unless so many of them are in sync. Default: 0.")
    private Long minFollowers;

    @Option(names = "--transport", paramLabel = "NAME[,NAME]", hideParamSyntax = true, split = ",",
            description = "ucx, nio, epoll or io_uring; several with commas. Default: nio,ucx on this host, ucx "
                    + "otherwise.")
    private List<TransportKind> transports;

    @Option(names = "--way", paramLabel = "WAY[,WAY]", hideParamSyntax = true, split = ",",
            description = "What to compare; several with commas. Default: all.")
    private List<LogWay> ways;

    @Option(names = "--size", paramLabel = "N[,N]", hideParamSyntax = true, split = ",",
            description = "Bytes in a record, from 8; several with commas. Default: 32,64,512,2k,8k,32k,128k on this "
                    + "host, 1k otherwise.")
    private List<ByteSize> sizes;

    @Option(names = "--table", paramLabel = "NAME[,NAME]", hideParamSyntax = true, split = ",",
            description = "What to measure on this host: produce, batch, replicas, consume; several with commas. Default: "
                    + "all.")
    private List<LogTable> tables;

    @Option(names = "--batch", paramLabel = "N[,N]", hideParamSyntax = true, split = ",",
            converter = Count.OfThreads.class,
            description = "Records that are sent at once; for the table batch several with commas. Default: 1,8,64,256 on "
                    + "this host, 1 otherwise.")
    private List<Long> batches;

    @Option(names = "--replicas", paramLabel = "N[,N]", hideParamSyntax = true, split = ",",
            converter = Count.OfReplicas.class,
            description = "For the table replicas: brokers that have each record, 1 to 5; several with commas. Default: "
                    + "1,2,3.")
    private List<Long> replicas;

    @Option(names = "--json", paramLabel = "FILE",
            description = "Write what was measured on this host to this file, too.")
    private Path json;

    @Option(names = "--seconds", paramLabel = "N", converter = Count.OfThreads.class,
            description = "How long to measure, after as long for warming up; with --demo, how long each of its three parts "
                    + "takes. Default: 2; with --demo: 5.")
    private Long seconds;

    @Option(names = "--clients", paramLabel = "N", converter = Count.OfThreads.class,
            description = "With --connect: begin when so many clients are there. Default: 1.")
    private Long clients;

    @Option(names = "--in-flight", paramLabel = "N", converter = Count.OfThreads.class,
            description = "With --produce: how many times something has been sent that is not acknowledged. Default: 1.")
    private Long inFlight;

    @Option(names = "--rate", paramLabel = "N", converter = Count.OfWarmup.class,
            description = "With --produce: how often something is sent in a second at most. Default: 0, without a limit.")
    private Long rate;

    @Option(names = "--lane", paramLabel = "NAME", description = Lane.HELP + ". Default: auto.")
    private Lane lane;

    @Option(names = "--wait", paramLabel = "HOW",
            description = "How ucx waits for data: spin, adaptive or park. Default: adaptive.")
    private WaitMode wait;

    /** {@code null} without {@code --cluster}. */
    private ClusterSettings settingsOfCluster;

    public static void main(String[] args) {
        ExampleRunner.main(NAME, new RecordLog(), args);
    }

    /** Whether its connections have access to memory. */
    static boolean hasMemory(Setting setting) {
        return setting.transport() == TransportKind.UCX && setting.lane() != Lane.SOCKET;
    }

    @Override
    protected void prepare() {
        arguments().requireOneRole(server(), connect);
        arguments().requirePort("--connect", connect);
        arguments().rejectWithout(TransportKind.UCX, transports, "--lane");
        arguments().rejectWithout(TransportKind.UCX, transports, "--wait");
        var roles = Stream.of("--produce", "--consume", "--fetch").filter(arguments()::given).toList();
        if (connect == null && !roles.isEmpty()) {
            throw arguments().rejected(roles.getFirst() + " means something only with --connect. Without it --way says"
                    + " what to compare.");
        }
        if (connect != null && roles.size() != 1) {
            throw arguments().rejected("--connect needs either --produce or --consume or --fetch, and a way.");
        }
        for (var option : server() == null && connect == null && !demo ? List.<String>of()
                : List.of("--table", "--replicas", "--json")) {
            if (arguments().given(option)) {
                throw arguments().rejected(option + " is about what is compared on this host. Leave it out, or the rest.");
            }
        }
        requireTables();
        if (followers != null && server() == null) {
            throw arguments().rejected("--follower means something only with --server, for the broker that leads.");
        }
        if (followers != null) {
            followers.forEach(follower -> arguments().requirePort("--follower", follower));
        }
        requireCluster();
        for (var option : demo ? List.of("--server", "--connect", "--way", "--size", "--transport", "--force", "--segment")
                : List.<String>of()) {
            if (arguments().given(option)) {
                throw arguments().rejected("--demo and " + option + " exclude each other: the demonstration chooses that."
                        + " Leave one out.");
            }
        }
        var most = nodes != null ? nodes.size() - 1 : followers == null ? 0 : followers.size();
        if (minFollowers != null && minFollowers > most) {
            throw arguments().rejected("--min-followers " + minFollowers + " will not do. Expected no more than are given"
                    + " with --follower, or with --nodes beside this one: " + most + ".");
        }
        if (patience != null && most == 0) {
            throw arguments().rejected("--patience means something only with --follower or --cluster: there is nobody to"
                    + " wait for. Leave it out.");
        }
        if (server() != null && directory == null) {
            throw arguments().rejected("--server needs --directory, where the log's files are, or will be.");
        }
        if (directory != null && server() == null && !Files.isDirectory(directory)) {
            throw arguments().rejected("--directory " + directory + " is no directory. Expected one that exists.");
        }
        for (var size : sizes == null ? List.<ByteSize>of() : sizes) {
            if (size.bytes() < Load.LEAST_SIZE || size.bytes() > (segment == null ? 1 << 19 : segment.bytes() / 2)) {
                throw arguments().rejected("--size " + size.bytes() + " will not do. Expected " + Load.LEAST_SIZE
                        + ", which the time of sending takes, to 512k, and at most half of a segment.");
            }
        }
    }

    /** An option that is about one table needs that. */
    private void requireTables() {
        if (connect != null) {
            if (batches != null && (produce == null || batches.size() > 1)) {
                throw arguments().rejected("--batch with --connect means something only with --produce, and has one value"
                        + " there.");
            }
            return;
        }
        for (var table : List.of(LogTable.BATCH, LogTable.REPLICAS)) {
            if (arguments().given("--" + table) && tables != null && !tables.contains(table)) {
                throw arguments().rejected("--" + table + " is about the table " + table + ", which is not among those"
                        + " given. Add it to --table, or leave --" + table + " out.");
            }
        }
    }

    private void requireCluster() {
        if ((cluster == null) != (nodes == null)) {
            throw arguments().rejected("--cluster and --nodes belong together: the cluster's name, and all its brokers, as"
                    + " HOST:PORT/RAFTPORT.");
        }
        if (cluster == null) {
            return;
        }
        if (server() == null) {
            throw arguments().rejected("--cluster means something only with --server, for one of its brokers.");
        }
        if (followers != null) {
            throw arguments().rejected("--cluster and --follower exclude each other: a cluster chooses who leads, and the"
                    + " others follow. Leave --follower out.");
        }
        if (nodes.size() < LEAST_NODES) {
            throw arguments().rejected("--nodes has " + nodes.size() + " brokers. Expected " + LEAST_NODES + " or more:"
                    + " with fewer, none can end without all the others waiting for it.");
        }
        try {
            settingsOfCluster = ClusterSettings.of(cluster, server(), nodes);
        } catch (IllegalArgumentException e) {
            throw arguments().rejected("--cluster " + cluster + " will not do: " + e.getMessage() + ".");
        }
    }

    @Override
    protected void run() throws InterruptedException {
        if (server() != null) {
            arguments().rejectForServer("--size", "--seconds", "--clients", "--in-flight", "--rate", "--way", "--batch");
            var setting = theOneSetting();
            setting.apply();
            serve(LogBroker.start(setting.transport(), server(), brokerSettings()));
        } else if (connect != null) {
            measure();
        } else if (demo) {
            demonstrate();
        } else {
            compare();
        }
    }

    private void demonstrate() throws InterruptedException {
        theOneSetting().apply();
        try (var files = LogFiles.make(directory); var three = new ClusterDemo(files.path())) {
            three.run(count(seconds, DEMO_SECONDS));
        }
    }

    private BrokerSettings brokerSettings() {
        var settings = BrokerSettings.in(directory).withDurability(force ? Durability.DISK : Durability.PAGE_CACHE);
        if (followers != null) {
            settings = settings.withFollowers(followers);
        }
        settings = settings.withCluster(settingsOfCluster).withMinFollowers(count(minFollowers, 0));
        if (patience != null) {
            settings = settings.withFollowerPatience(Duration.ofSeconds(patience));
        }
        return segment == null ? settings : settings.withSegmentBytes(segment.bytes());
    }

    private void measure() throws InterruptedException {
        for (var option : List.of("--directory", "--segment", "--force", "--way")) {
            if (arguments().given(option)) {
                throw arguments().rejected(option + " means nothing to a client. Leave it out.");
            }
        }
        if (sizes != null && sizes.size() > 1) {
            throw arguments().rejected("--size has more than one value. With --connect give one.");
        }
        var setting = theOneSetting();
        setting.apply();
        var way = Stream.of(produce, consume, fetch).filter(Objects::nonNull).findFirst().orElseThrow();
        var load = new Load(way, sizes == null ? new ByteSize(1 << 10) : sizes.getFirst(),
                batches == null ? 1 : Math.toIntExact(batches.getFirst()), seconds(), count(clients, 1), count(inFlight, 1),
                count(rate, 0));
        if (load.batch() * (long) (load.size().bytes() + Records.HEADER) > Records.MAX_LENGTH) {
            throw arguments().rejected("--batch " + load.batch() + " of " + load.size() + " will not do: together they have"
                    + " more than " + (Records.MAX_LENGTH >> 20) + " MiB, which can be sent at once.");
        }
        measure(setting + " " + way, _ -> fetch != null ? new FetchClient(setting.transport(), connect, load).fetch()
                : produce != null ? new LoadClient(setting.transport(), connect, load).produce()
                : new LoadClient(setting.transport(), connect, load).consume(), result -> report(setting, load, result));
    }

    private void report(Setting setting, Load load, LogResult result) {
        var table = new TextTable().left("transport").left("way").right("record").right("records").right("MB/s")
                .right("p50 µs").right("p99 µs");
        table.row(List.of(setting.toString(), load.way().toString(), load.size().toString(),
                TextTable.whole(result.records()), LogReport.rate(result.megabytesPerSecond()),
                TextTable.decimals(result.p50Nanos() / 1e3), TextTable.decimals(result.p99Nanos() / 1e3)));
        Console.print(table.render());
    }

    private void compare() throws InterruptedException {
        var chosen = transports == null ? List.of(TransportKind.NIO, TransportKind.UCX) : distinct(transports);
        var settings = Setting.all(chosen, List.of(lane == null ? Lane.AUTO : lane), wait);
        var ofBroker = new ArrayList<String>();
        if (segment != null) {
            ofBroker.addAll(List.of("--segment", Integer.toString(segment.bytes())));
        }
        if (force) {
            ofBroker.add("--force");
        }
        var plan = new LogComparison.Plan(tables == null ? Arrays.asList(LogTable.values()) : distinct(tables), settings,
                ways == null ? Arrays.asList(LogWay.values()) : distinct(ways),
                sizes == null ? SIZES.stream().map(ByteSize::new).toList() : distinct(sizes),
                numbers(batches, BATCHES), numbers(replicas, REPLICAS));
        var rows = new ArrayList<LogRow>();
        try {
            new LogComparison(directory, ofBroker, seconds(), Progress.onTerminal(), rows::add).run(plan);
        } finally {
            // What there is, also when something later has failed.
            if (!rows.isEmpty()) {
                Console.print(LogReport.render(rows));
                if (json != null) {
                    LogJson.write(json, seconds(), rows);
                }
            }
        }
    }

    private static List<Integer> numbers(List<Long> given, List<Integer> otherwise) {
        return given == null ? otherwise : distinct(given).stream().map(Math::toIntExact).toList();
    }

    private int seconds() {
        return count(seconds, 2);
    }

    private static int count(Long given, int otherwise) {
        return given == null ? otherwise : Math.toIntExact(given);
    }

    private Setting theOneSetting() {
        arguments().requireOneTransport(transports);
        return Setting.all(transports == null ? List.of(TransportKind.UCX) : distinct(transports),
                List.of(lane == null ? Lane.AUTO : lane), wait).getFirst();
    }
}
