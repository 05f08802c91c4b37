// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

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
import io.github.nettyucx.examples.TransportKind;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Files and a WebSocket by HTTP/1.1 and HTTP/2: the command line of it. */
@Command(
        description = {
            "Serves files and a WebSocket by HTTP/1.1 and HTTP/2, gets them, compares every byte, and measures.%n",
            "Without --server, --connect or a URL: starts a server and a client as two processes on this host, for one "
                    + "transport after the other, each without TLS and with it. Between two machines: --server on one "
                    + "of them, then --connect on the other. With --files the server has files of yours, which a "
                    + "client gets by their URLs.%n"},
        customSynopsis = {
            "./run-example.sh http [OPTION]...",
            "       ./run-example.sh http --server HOST:PORT [--files DIRECTORY] [OPTION]...",
            "       ./run-example.sh http --connect HOST:PORT [OPTION]...",
            "       ./run-example.sh http [OPTION]... URL...",
            ""},
        sortOptions = false,
        footer = {
            "",
            "The WebSocket is at /echo, and returns what it gets. Without TLS a client of HTTP/2 has to know "
                    + "beforehand that the server speaks it.",
            "",
            "Examples:",
            "  ./run-example.sh http",
            "  ./run-example.sh http --server 0.0.0.0:7777 --files /srv/data",
            "  ./run-example.sh http http://node1:7777/a.bin http://node1:7777/b.bin",
            "  ./run-example.sh http --server 0.0.0.0:7777 --cert cert.pem --key key.pem",
            "  ./run-example.sh http --connect node1:7777 --trust cert.pem",
            "  A browser, curl or any other client over TCP, of the same server at the same port:",
            "    curl http://node1:7777/a.bin",
            "    ./run-example.sh http --transport nio http://node1:7777/a.bin"})
public final class Http extends PairCommand {
    private static final String NAME = "http";
    private static final List<TransportKind> COMPARED = List.of(TransportKind.UCX, TransportKind.NIO);

    @Parameters(paramLabel = "URL", arity = "0..*", hideParamSyntax = true,
            description = "http://HOST:PORT/PATH, or https with --trust: get these, and tell what came.")
    private List<URI> urls = List.of();

    @Option(names = "--connect", paramLabel = "HOST:PORT",
            description = "Check and measure with the server at this address, which runs without --files.")
    private HostAndPort connect;

    @Option(names = "--files", paramLabel = "DIRECTORY", description = "With --server: serve the files in this "
            + "directory. Default: files made for --connect, removed in the end.")
    private Path files;

    @Option(names = "--transport", paramLabel = "NAME[,NAME]", hideParamSyntax = true, split = ",",
            description = "ucx, nio, epoll or io_uring; several with commas. Default: ucx,nio on this host, ucx "
                    + "between two machines.")
    private List<TransportKind> transports;

    @Option(names = "--http", paramLabel = "VERSION[,VERSION]", hideParamSyntax = true, split = ",",
            description = "1.1 or 2; both with a comma. Default: 1.1,2, and 1.1 for URLs.")
    private List<HttpProtocol> protocols;

    @Option(names = "--security", paramLabel = "HOW[,HOW]", hideParamSyntax = true, split = ",",
            description = "plaintext or tls, on this host; both with a comma. Default: plaintext,tls.")
    private List<Security> securities;

    @Option(names = "--cert", paramLabel = "FILE", description = "With --server: serve TLS with this certificate, PEM.")
    private Path certificate;

    @Option(names = "--key", paramLabel = "FILE", description = "With --server: the certificate's private key, PEM.")
    private Path key;

    @Option(names = "--trust", paramLabel = "FILE",
            description = "With --connect: use TLS, and trust this certificate, PEM. With URLs: for those of https.")
    private Path trust;

    @Option(names = "--range", paramLabel = "BYTES",
            description = "With URLs: get a part of each, such as 0-99 or -100.")
    private String range;

    @Option(names = "--size", paramLabel = "N",
            description = "Bytes of the big file, the same on both sides: 100k, 64m. Default: 64m.")
    private ByteSize size = new ByteSize(64 << 20);

    @Option(names = "--rounds", paramLabel = "N", converter = Count.OfIterations.class,
            description = "How often each file is got for the measurement. Default: 5.")
    private Long rounds = HttpMeasurement.DEFAULT_ROUNDS;

    @Option(names = "--lane", paramLabel = "NAME", description = Lane.HELP + ". Default: auto.")
    private Lane lane = Lane.AUTO;

    public static void main(String[] args) {
        ExampleRunner.main(NAME, new Http(), args);
    }

    @Override
    protected void prepare() {
        new HttpArguments(arguments(), urls, server(), connect)
                .validate(transports, protocols, certificate, key, trust, files);
        lane.apply();
    }

    @Override
    protected void run() throws InterruptedException {
        if (server() != null) {
            serve();
        } else if (connect != null) {
            measure(transport().toString(), this::checkWith, this::report);
        } else if (!urls.isEmpty()) {
            new UrlClient(transport(), trust, protocols == null ? HttpProtocol.HTTP_1_1 : protocols.getFirst(),
                    range == null ? null : "bytes=" + range).get(urls, Console::print);
        } else {
            compare();
        }
    }

    private void serve() throws InterruptedException {
        var tls = Tls.ofServer(certificate, key);
        try (var own = files == null ? CheckFiles.create(size.bytes()) : null;
             var running = HttpServer.start(transport(), server(), tls,
                     new FileDirectory(own == null ? files : own.directory()))) {
            serve(running, () -> {
                running.close();
                if (own != null) {
                    own.close();
                }
            });
        }
    }

    private List<HttpResult> checkWith(Progress progress) throws InterruptedException {
        var results = new ArrayList<HttpResult>();
        var chosen = protocols();
        for (var protocol : chosen) {
            var done = (double) results.size() / chosen.size();
            var target = new HttpTarget(transport(), connect, trust, protocol);
            try (var connections = new ClientConnections(target); var connection = connections.open()) {
                HttpChecks.run(connections, connection, size.bytes(), progress.part(done, chosen.size() * 2));
                results.add(HttpMeasurement.measure(connection, target, size.bytes(), rounds,
                        progress.part(done + 0.5 / chosen.size(), chosen.size() * 2)));
            }
        }
        return results;
    }

    private void compare() throws InterruptedException {
        var chosen = transports == null ? COMPARED : distinct(transports);
        var secured = securities == null ? List.of(Security.values()) : distinct(securities);
        var cases = chosen.stream().flatMap(transport -> secured.stream()
                .map(security -> new SecuredRuns.Case<>(transport, security))).toList();
        new SecuredRuns<>(Http.class, cases).run(this::task, HttpResult[].class, this::report);
    }

    private SecuredRuns.Task task(TransportKind transport) {
        var both = new ArrayList<>(List.of("--size", Integer.toString(size.bytes())));
        if (lane != Lane.AUTO && transport == TransportKind.UCX) {
            both.addAll(List.of("--lane", lane.toString()));
        }
        return new SecuredRuns.Task(both, List.of("--rounds", Long.toString(rounds), "--http",
                protocols().stream().map(HttpProtocol::toString).collect(Collectors.joining(","))));
    }

    private void report(List<HttpResult> results) {
        var software = results.stream().map(result -> result.transport() + " (" + result.software() + ")").distinct()
                .collect(Collectors.joining(" and "));
        var text = new StringBuilder("Checked over " + software + ", all as it should be:\n");
        results.stream().map(HttpResult::protocol).distinct().flatMap(it -> HttpChecks.names(it).stream()).distinct()
                .forEach(name -> text.append("  ").append(name).append('\n'));
        Console.print(text.append('\n').append(HttpTable.render(results, size)).toString());
    }

    /** Between two processes that are started by hand there is one. */
    private TransportKind transport() {
        return transports == null ? TransportKind.UCX : transports.getFirst();
    }

    private List<HttpProtocol> protocols() {
        return protocols == null ? List.of(HttpProtocol.values()) : distinct(protocols);
    }
}
