// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Choice;
import io.github.nettyucx.examples.Console;
import io.github.nettyucx.examples.Count;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.ExampleRunner;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.LocalPair;
import io.github.nettyucx.examples.ParentProcess;
import io.github.nettyucx.examples.Progress;
import io.github.nettyucx.examples.SelfSignedCertificate;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Checks and measures gRPC: the command line of it. */
@Command(
        description = {
            "Makes gRPC calls of every kind over UCX and over gRPC's own transport, checks all that comes back, and "
                    + "compares the times of unary calls.%n",
            "Without --server or --connect: starts a server and a client as two processes on this host, for one "
                    + "transport after the other, each without TLS and with it. Between two machines: --server on one "
                    + "of them, then --connect on the other.%n"},
        customSynopsis = {
            "./run-example.sh grpc [OPTION]...",
            "       ./run-example.sh grpc --server HOST:PORT [OPTION]...",
            "       ./run-example.sh grpc --connect HOST:PORT [OPTION]...",
            ""},
        sortOptions = false,
        footer = {
            "",
            "Checked are: unary calls, client, server and bidirectional streaming, deadlines, cancellation, errors, "
                    + "metadata, messages of 16 MiB, flow control, TLS.",
            "",
            "Examples:",
            "  ./run-example.sh grpc",
            "  ./run-example.sh grpc --calls 100000 --concurrency 256 --size 4k",
            "  ./run-example.sh grpc --server 0.0.0.0:7777 --cert cert.pem --key key.pem",
            "  ./run-example.sh grpc --connect node1:7777 --trust cert.pem"})
public final class GrpcCalls implements Callable<Integer> {
    private static final String NAME = "grpc";
    /** Set by the process that started this one: reports are for a program, and life ends with standard input. */
    private static final String CHILD_OPTION = "--child";
    private static final String ANY_LOCAL_PORT = "127.0.0.1:0";
    private static final List<GrpcTransport> ALL = List.of(GrpcTransport.values());
    private static final long DEFAULT_CALLS = 20_000;
    private static final long DEFAULT_WARMUP = 10_000;
    private static final long DEFAULT_CONCURRENCY = 64;

    @Spec
    private CommandSpec spec;

    @Option(names = "--server", paramLabel = "HOST:PORT", converter = HostAndPort.Converter.class,
            description = "Serve on this address until stopped; prints 'listening HOST:PORT'.")
    private HostAndPort server;

    @Option(names = "--connect", paramLabel = "HOST:PORT", converter = HostAndPort.Converter.class,
            description = "Check and measure with the server at this address.")
    private HostAndPort connect;

    @Option(names = "--transport", paramLabel = "NAME[,NAME]", hideParamSyntax = true, split = ",",
            converter = TransportConverter.class,
            description = "ucx or default (what gRPC takes when it is told nothing); several with commas. Default: "
                    + "ucx,default on this host, ucx between two machines.")
    private List<GrpcTransport> transports;

    @Option(names = "--security", paramLabel = "HOW[,HOW]", hideParamSyntax = true, split = ",",
            converter = SecurityConverter.class,
            description = "plaintext or tls, on this host; both with a comma. Default: plaintext,tls.")
    private List<Security> securities;

    @Option(names = "--cert", paramLabel = "FILE", description = "With --server: serve TLS with this certificate, PEM.")
    private Path certificate;

    @Option(names = "--key", paramLabel = "FILE", description = "With --server: the certificate's private key, PEM.")
    private Path key;

    @Option(names = "--trust", paramLabel = "FILE",
            description = "With --connect: use TLS, and trust this certificate, PEM.")
    private Path trust;

    @Option(names = "--size", paramLabel = "N", converter = ByteSize.Converter.class,
            description = "Bytes in each measured request and reply: 16, 1k, 1m. Default: 16.")
    private ByteSize size = new ByteSize(16);

    @Option(names = "--calls", paramLabel = "N", converter = Count.OfIterations.class,
            description = "Measured calls. Default: 20000.")
    private Long calls;

    @Option(names = "--warmup", paramLabel = "N", converter = Count.OfWarmup.class,
            description = "Calls before that. Default: 10000.")
    private Long warmup;

    @Option(names = "--concurrency", paramLabel = "N", converter = Count.OfConnections.class,
            description = "Calls at a time in the second measurement. Default: 64.")
    private Long concurrency;

    @Option(names = "--direct", description = "Handle calls and replies on the event loops (gRPC's directExecutor) "
            + "instead of a pool of threads; on both sides.")
    private boolean direct;

    @Option(names = "--lane", paramLabel = "NAME", converter = Choice.OfLane.class,
            description = "What ucx may use: shm (shared memory), tcp or auto (the fastest there is). Default: auto.")
    private Lane lane = Lane.AUTO;

    @Option(names = "--verbose", description = "Show stack traces of failures.")
    private boolean verbose;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help.")
    private boolean help;

    @Option(names = CHILD_OPTION, hidden = true)
    private boolean child;

    public static void main(String[] args) {
        ExampleRunner.main(NAME, new GrpcCalls(), args);
    }

    @Override
    public Integer call() throws InterruptedException {
        validate();
        lane.apply();
        try {
            if (server != null) {
                serve();
            } else if (connect != null) {
                measure();
            } else {
                compare();
            }
            return 0;
        } catch (ExampleFailure e) {
            if (!child || verbose) {
                throw e;
            }
            LocalPair.reportFailure(e.getMessage());
            return 1;
        }
    }

    private void serve() throws InterruptedException {
        try (var running = GrpcServer.start(transport(), server, certificate, key, direct)) {
            Runtime.getRuntime().addShutdownHook(new Thread(running::close, "stop-server"));
            if (child) {
                ParentProcess.onceGone(running::stop);
            }
            LocalPair.reportListening(running.address());
            running.awaitStop();
        }
    }

    private void measure() throws InterruptedException {
        if (child) {
            ParentProcess.onceGone(() -> Runtime.getRuntime().halt(1));
            LocalPair.reportResult(measureWith(new LocalPair.ProgressReports()).toLine());
            return;
        }
        var progress = Progress.onTerminal();
        progress.begin(transport().toString());
        GrpcResult result;
        try {
            result = measureWith(progress);
        } finally {
            progress.end();
        }
        report(List.of(result));
    }

    private GrpcResult measureWith(Progress progress) throws InterruptedException {
        CallChecks.run(connect, transport(), trust, part(progress, 0));
        return new CallMeasurement(load()).measure(connect, transport(), trust, part(progress, 0.5));
    }

    /** The half of the progress that begins there. */
    private static Progress part(Progress whole, double begin) {
        return new Progress() {
            @Override
            public void at(double fraction) {
                whole.at(begin + fraction / 2);
            }
        };
    }

    private void compare() throws InterruptedException {
        var chosen = transports == null ? ALL : distinct(transports);
        var secured = securities == null ? List.of(Security.values()) : distinct(securities);
        var results = new ArrayList<GrpcResult>();
        try (var own = secured.contains(Security.TLS) ? SelfSignedCertificate.create() : null) {
            var progress = Progress.onTerminal();
            for (var security : secured) {
                for (var transport : chosen) {
                    var name = transport + " " + security;
                    progress.begin(name + " (" + (results.size() + 1) + " of " + secured.size() * chosen.size() + ")");
                    try {
                        results.add(run(name, transport, security == Security.TLS ? own : null, progress));
                    } finally {
                        progress.end();
                    }
                }
            }
        } catch (ExampleFailure e) {
            if (!results.isEmpty()) {
                report(results);
            }
            throw e;
        }
        report(results);
    }

    private GrpcResult run(String name, GrpcTransport transport, SelfSignedCertificate own, Progress progress)
            throws InterruptedException {
        var both = new ArrayList<>(List.of("--transport", transport.toString(), CHILD_OPTION));
        if (direct) {
            both.add("--direct");
        }
        if (lane != Lane.AUTO && transport == GrpcTransport.UCX) {
            both.addAll(List.of("--lane", lane.toString()));
        }
        var serverTask = new ArrayList<>(List.of("--server", ANY_LOCAL_PORT));
        var clientTask = new ArrayList<>(List.of("--size", Integer.toString(size.bytes()),
                "--calls", Long.toString(load().calls()), "--warmup", Long.toString(load().warmup()),
                "--concurrency", Integer.toString(load().concurrency())));
        if (own != null) {
            serverTask.addAll(List.of("--cert", own.certificate().toString(), "--key", own.key().toString()));
            clientTask.addAll(List.of("--trust", own.certificate().toString()));
        }
        serverTask.addAll(both);
        clientTask.addAll(both);
        return GrpcResult.parse(new LocalPair(name, GrpcCalls.class, progress).run(serverTask, address -> {
            clientTask.addAll(List.of("--connect", address));
            return clientTask;
        }));
    }

    private void report(List<GrpcResult> results) {
        var software = results.stream().map(result -> result.transport() + " (" + result.software() + ")").distinct()
                .collect(Collectors.joining(" and "));
        Console.print("Checked over " + software + ", all as it should be:\n"
                + CallChecks.names().stream().map(name -> "  " + name + "\n").collect(Collectors.joining()) + "\n"
                + GrpcTable.render(results, load()));
    }

    private GrpcLoad load() {
        return new GrpcLoad(size, calls == null ? DEFAULT_CALLS : calls, warmup == null ? DEFAULT_WARMUP : warmup,
                Math.toIntExact(concurrency == null ? DEFAULT_CONCURRENCY : concurrency), direct);
    }

    /** Between two processes that are started by hand there is one. */
    private GrpcTransport transport() {
        return transports == null ? GrpcTransport.UCX : transports.getFirst();
    }

    private void validate() {
        if (server != null && connect != null) {
            throw rejected("--server and --connect exclude each other. Start one process with --server, and then "
                    + "another with --connect.");
        }
        var alone = server != null || connect != null;
        if (alone && transports != null && distinct(transports).size() > 1) {
            throw rejected("--transport has more than one value. With --server or --connect give one, the same on "
                    + "both sides.");
        }
        if (alone && securities != null) {
            throw rejected("--security is for a run without --server and --connect. Give a server --cert and --key, "
                    + "and a client --trust, for TLS.");
        }
        if ((certificate == null) != (key == null)) {
            throw rejected("--cert and --key belong together: the certificate, and its private key.");
        }
        if (certificate != null && server == null) {
            throw rejected("--cert and --key mean something only with --server.");
        }
        if (trust != null && connect == null) {
            throw rejected("--trust means something only with --connect.");
        }
        if (connect != null && connect.port() == 0) {
            throw rejected("--connect " + connect + " names no port. Give the one that the server printed.");
        }
        if (server != null) {
            for (var option : List.of("--size", "--calls", "--warmup", "--concurrency")) {
                if (given(option)) {
                    throw rejected(option + " means nothing to a server. Give it to the client, with --connect.");
                }
            }
        }
        if (given("--lane") && transports != null
                && !transports.contains(GrpcTransport.UCX)) {
            throw rejected("--lane is about ucx, which is not among the transports given. Add ucx to --transport, or "
                    + "leave --lane out.");
        }
        requireReadable("--cert", certificate);
        requireReadable("--key", key);
        requireReadable("--trust", trust);
    }

    private void requireReadable(String option, Path file) {
        if (file != null && (!Files.isRegularFile(file) || !Files.isReadable(file))) {
            throw rejected(option + " " + file + " cannot be read. Expected a PEM file that exists.");
        }
    }

    private boolean given(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    private ParameterException rejected(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private static <T> List<T> distinct(List<T> values) {
        return List.copyOf(new LinkedHashSet<>(values));
    }

    private enum Security {
        PLAINTEXT, TLS;

        @Override
        public String toString() {
            return this == TLS ? "tls" : "plaintext";
        }
    }

    static final class TransportConverter extends Choice<GrpcTransport> {
        TransportConverter() {
            super(GrpcTransport.class);
        }
    }

    static final class SecurityConverter extends Choice<Security> {
        SecurityConverter() {
            super(Security.class);
        }
    }
}
