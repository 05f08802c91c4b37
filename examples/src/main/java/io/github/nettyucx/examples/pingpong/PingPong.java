// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.pingpong;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Console;
import io.github.nettyucx.examples.Count;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.ExampleRunner;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.PairCommand;
import io.github.nettyucx.examples.Progress;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.WaitMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures round trips: the command line of it. */
@Command(
        description = {
            "Measures how long a message takes to a server and back.%n",
            "Without --server or --connect: starts a server and a client as two processes on this host, for one "
                    + "transport after the other, and compares them. Between two machines: --server on one of them, "
                    + "then --connect on the other.%n"},
        customSynopsis = {
            "./run-example.sh ping-pong [OPTION]...",
            "       ./run-example.sh ping-pong --server HOST:PORT [OPTION]...",
            "       ./run-example.sh ping-pong --connect HOST:PORT [OPTION]...",
            ""},
        sortOptions = false,
        footer = {
            "",
            "Every connection has one request in flight. The server replies when all of the message has arrived.",
            "",
            "Examples:",
            "  ./run-example.sh ping-pong",
            "  ./run-example.sh ping-pong --lane shm,socket --size 64k",
            "  ./run-example.sh ping-pong --server 0.0.0.0:7777",
            "  ./run-example.sh ping-pong --connect node1:7777 --size 1k --connections 16 --threads 4"})
public final class PingPong extends PairCommand {
    private static final String NAME = "ping-pong";

    @Option(names = "--connect", paramLabel = "HOST:PORT", description = "Measure with the server at this address.")
    private HostAndPort connect;

    @Option(names = "--transport", paramLabel = "NAME[,NAME]", hideParamSyntax = true, split = ",",
            description = "ucx, nio, epoll or io_uring; several with commas. Default: ucx,nio on this host, ucx between two "
                    + "machines.")
    private List<TransportKind> transports;

    @Option(names = "--size", paramLabel = "N", description = "Bytes in a message: 16, 1k, 1m. Default: 16.")
    private ByteSize size;

    @Option(names = "--connections", paramLabel = "N", converter = Count.OfConnections.class,
            description = "Connections that ping at the same time. Default: 1.")
    private Long connections;

    @Option(names = "--iterations", paramLabel = "N", converter = Count.OfIterations.class,
            description = "Measured round trips on each connection. Default: what takes a few seconds.")
    private Long iterations;

    @Option(names = "--warmup", paramLabel = "N", converter = Count.OfWarmup.class,
            description = "Round trips on each connection before that. Default: a tenth of --iterations.")
    private Long warmup;

    @Option(names = "--threads", paramLabel = "N", converter = Count.OfThreads.class,
            description = "Event loop threads on each side. Default: 1.")
    private Long threads;

    @Option(names = "--lane", paramLabel = "NAME[,NAME]", hideParamSyntax = true, split = ",",
            description = Lane.HELP + "; several with commas. Default: auto.")
    private List<Lane> lanes;

    @Option(names = "--wait", paramLabel = "HOW",
            description = "How ucx waits for a reply: spin, adaptive or park. Default: adaptive.")
    private WaitMode wait;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results there too, as JSON.")
    private Path json;

    public static void main(String[] args) {
        ExampleRunner.main(NAME, new PingPong(), args);
    }

    @Override
    protected void prepare() {
        arguments().requireOneRole(server(), connect);
        arguments().rejectWithout(TransportKind.UCX, transports, "--lane");
        arguments().rejectWithout(TransportKind.UCX, transports, "--wait");
    }

    @Override
    protected void run() throws InterruptedException {
        if (server() != null) {
            arguments().rejectForServer("--size", "--connections", "--iterations", "--warmup", "--json");
            var setting = theOneSetting();
            setting.apply();
            serve(PingPongServer.start(setting.transport(), server(), threads()));
        } else if (connect != null) {
            measure();
        } else {
            compare();
        }
    }

    private void measure() throws InterruptedException {
        arguments().requirePort("--connect", connect);
        requireWritable(json);
        var setting = theOneSetting();
        setting.apply();
        measure(setting.toString(), progress -> new PingPongClient(setting, load(), progress).measure(connect),
                result -> report(List.of(result)));
    }

    private void compare() throws InterruptedException {
        requireWritable(json);
        var chosen = transports == null ? List.of(TransportKind.UCX, TransportKind.NIO) : distinct(transports);
        var settings = Setting.all(chosen, lanes == null ? List.of(Lane.AUTO) : distinct(lanes), wait);
        var results = new ArrayList<Measurement>();
        try {
            new LocalComparison(load(), Progress.onTerminal()).run(settings, results);
        } catch (ExampleFailure e) {
            if (!results.isEmpty()) {
                Console.print(ResultTable.render(results));
            }
            throw e;
        }
        report(results);
    }

    private void report(List<Measurement> results) {
        Console.print(ResultTable.render(results));
        if (json != null) {
            try {
                Files.writeString(json, ResultJson.render(results));
            } catch (IOException e) {
                throw new ExampleFailure("cannot write " + json + ": " + e, e);
            }
        }
    }

    private Workload load() {
        var bytes = size == null ? new ByteSize(16) : size;
        var count = connections == null ? 1 : Math.toIntExact(connections);
        var measured = iterations == null ? Workload.defaultIterations(bytes, count) : iterations;
        return new Workload(bytes, count, threads(), measured,
                warmup == null ? Workload.defaultWarmup(measured) : warmup);
    }

    private int threads() {
        return threads == null ? 1 : Math.toIntExact(threads);
    }

    /** Between two processes that are started by hand there is one transport, and both have to name the same. */
    private Setting theOneSetting() {
        arguments().requireOneTransport(transports);
        if (lanes != null && distinct(lanes).size() > 1) {
            throw arguments().rejected("--lane has more than one value. With --server or --connect give one.");
        }
        return Setting.all(transports == null ? List.of(TransportKind.UCX) : distinct(transports),
                lanes == null ? List.of(Lane.AUTO) : distinct(lanes), wait).getFirst();
    }

    private void requireWritable(Path file) {
        if (file == null) {
            return;
        }
        var directory = file.toAbsolutePath().getParent();
        if (Files.isDirectory(file) || directory == null || !Files.isDirectory(directory)
                || !Files.isWritable(Files.exists(file) ? file : directory)) {
            throw arguments().rejected("--json " + file + " cannot be written. Expected a file in a directory "
                    + "that exists and is yours to write to.");
        }
    }
}
