// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.grpc;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Console;
import io.github.nettyucx.examples.Count;
import io.github.nettyucx.examples.ExampleRunner;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.PairCommand;
import io.github.nettyucx.examples.Progress;
import io.github.nettyucx.examples.SecuredRuns;
import io.github.nettyucx.examples.Security;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

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
public final class GrpcCalls extends PairCommand {
    private static final String NAME = "grpc";
    private static final List<GrpcTransport> ALL = List.of(GrpcTransport.values());
    private static final long DEFAULT_CALLS = 20_000;
    private static final long DEFAULT_WARMUP = 10_000;
    private static final long DEFAULT_CONCURRENCY = 64;

    @Option(names = "--connect", paramLabel = "HOST:PORT",
            description = "Check and measure with the server at this address.")
    private HostAndPort connect;

    @Option(names = "--transport", paramLabel = "NAME[,NAME]", hideParamSyntax = true, split = ",",
            description = "ucx or default (what gRPC takes when it is told nothing); several with commas. Default: "
                    + "ucx,default on this host, ucx between two machines.")
    private List<GrpcTransport> transports;

    @Option(names = "--security", paramLabel = "HOW[,HOW]", hideParamSyntax = true, split = ",",
            description = "plaintext or tls, on this host; both with a comma. Default: plaintext,tls.")
    private List<Security> securities;

    @Option(names = "--cert", paramLabel = "FILE", description = "With --server: serve TLS with this certificate, PEM.")
    private Path certificate;

    @Option(names = "--key", paramLabel = "FILE", description = "With --server: the certificate's private key, PEM.")
    private Path key;

    @Option(names = "--trust", paramLabel = "FILE",
            description = "With --connect: use TLS, and trust this certificate, PEM.")
    private Path trust;

    @Option(names = "--size", paramLabel = "N",
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

    @Option(names = "--lane", paramLabel = "NAME", description = Lane.HELP + ". Default: auto.")
    private Lane lane = Lane.AUTO;

    public static void main(String[] args) {
        ExampleRunner.main(NAME, new GrpcCalls(), args);
    }

    @Override
    protected void prepare() {
        validate();
        lane.apply();
    }

    @Override
    protected void run() throws InterruptedException {
        if (server() != null) {
            serve(GrpcServer.start(transport(), server(), certificate, key, direct));
        } else if (connect != null) {
            measure(transport().toString(), this::measureWith, this::report);
        } else {
            compare();
        }
    }

    private List<GrpcResult> measureWith(Progress progress) throws InterruptedException {
        CallChecks.run(connect, transport(), trust, progress.part(0, 2));
        return List.of(new CallMeasurement(load()).measure(connect, transport(), trust, progress.part(0.5, 2)));
    }

    private void compare() throws InterruptedException {
        var chosen = transports == null ? ALL : distinct(transports);
        var secured = securities == null ? List.of(Security.values()) : distinct(securities);
        var cases = secured.stream().flatMap(security -> chosen.stream()
                .map(transport -> new SecuredRuns.Case<>(transport, security))).toList();
        new SecuredRuns<>(GrpcCalls.class, cases).run(this::task, GrpcResult[].class, this::report);
    }

    private SecuredRuns.Task task(GrpcTransport transport) {
        var both = new ArrayList<String>();
        if (direct) {
            both.add("--direct");
        }
        if (lane != Lane.AUTO && transport == GrpcTransport.UCX) {
            both.addAll(List.of("--lane", lane.toString()));
        }
        return new SecuredRuns.Task(both, List.of("--size", Integer.toString(size.bytes()),
                "--calls", Long.toString(load().calls()), "--warmup", Long.toString(load().warmup()),
                "--concurrency", Integer.toString(load().concurrency())));
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
        var arguments = arguments();
        arguments.requireOneRole(server(), connect);
        if (server() != null || connect != null) {
            arguments.requireOneTransport(transports);
            if (securities != null) {
                throw arguments.rejected("--security is for a run without --server and --connect. Give a server "
                        + "--cert and --key, and a client --trust, for TLS.");
            }
        }
        arguments.requireBoth(certificate, key, server());
        if (trust != null && connect == null) {
            throw arguments.rejected("--trust means something only with --connect.");
        }
        arguments.requirePort("--connect", connect);
        if (server() != null) {
            arguments.rejectForServer("--size", "--calls", "--warmup", "--concurrency");
        }
        arguments.rejectWithout(GrpcTransport.UCX, transports, "--lane");
        arguments.requireReadable("--cert", certificate);
        arguments.requireReadable("--key", key);
        arguments.requireReadable("--trust", trust);
    }
}
