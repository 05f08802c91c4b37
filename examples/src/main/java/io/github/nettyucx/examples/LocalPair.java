// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A server and a client of one example, as two processes on this host: what one leaves behind in memory, or in the
 * JIT's profile, does not touch the next. The two report on standard output, with the methods here.
 */
public final class LocalPair {
    private static final String PROGRESS = "progress ";
    private static final String RESULT = "result ";
    private static final String FAILURE = "failure ";
    private static final String LISTENING = "listening ";
    private static final List<String> REPORTS = List.of(PROGRESS, RESULT, FAILURE, LISTENING);

    private static final long START_SECONDS = 60;
    private static final long POLL_MILLIS = 200;
    /** Its end may be seen late on a busy machine. Any other failure of a client is told of so much later. */
    private static final long SERVER_END_MILLIS = 2000;

    private final String name;
    private final Class<?> main;
    private final Progress progress;

    /**
     * @param name how messages speak of the pair, for example {@code nio}
     * @param main of both processes
     * @param progress is told what the client reports
     */
    public LocalPair(String name, Class<?> main, Progress progress) {
        this.name = name;
        this.main = main;
        this.progress = progress;
    }

    /** The server's way to say where it can be reached, whoever started it. */
    public static void reportListening(HostAndPort address) {
        System.out.println(LISTENING + address);
    }

    /** The client's way to say what came out in the end; one line. */
    public static void reportResult(String line) {
        System.out.println(RESULT + line);
    }

    /** Either side's way to say why it gives up, in words. */
    public static void reportFailure(String message) {
        System.out.println(FAILURE + URLEncoder.encode(message, StandardCharsets.UTF_8));
    }

    /** The client's way to say how far it is. */
    public static final class ProgressReports implements Progress {
        @Override
        public void at(double fraction) {
            System.out.println(PROGRESS + fraction);
        }
    }

    /**
     * Starts both, and waits until the client is done and both have ended.
     *
     * @param clientArguments makes them from the server's address
     * @return the client's result
     * @throws ExampleFailure if one of the two gave up, or ended before its time
     */
    public String run(List<String> serverArguments, Function<String, List<String>> clientArguments)
            throws InterruptedException {
        try (var server = start("server", serverArguments)) {
            var address = addressOf(server);
            try (var client = start("client", clientArguments.apply(address))) {
                var result = resultOf(client, server);
                client.awaitEnd();
                server.stop();
                progress.end();
                tell("server", server);
                tell("client", client);
                return result;
            }
        }
    }

    private ChildProcess start(String role, List<String> arguments) {
        return ChildProcess.start("the " + name + " " + role, main, arguments,
                line -> REPORTS.stream().anyMatch(line::startsWith));
    }

    private static String addressOf(ChildProcess server) throws InterruptedException {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (System.nanoTime() < deadline) {
            var line = server.nextReport(POLL_MILLIS);
            if (line == null) {
                continue;
            }
            if (line.startsWith(LISTENING)) {
                return line.substring(LISTENING.length());
            } else if (line.startsWith(FAILURE)) {
                throw server.failed(decode(line));
            }
        }
        throw new ExampleFailure("the server did not come up within " + START_SECONDS + " s");
    }

    private String resultOf(ChildProcess client, ChildProcess server) throws InterruptedException {
        while (true) {
            if (server.endsWithin(0)) {
                throw server.endedEarly();
            }
            var line = client.nextReport(POLL_MILLIS);
            if (line == null) {
                continue;
            }
            if (line.startsWith(PROGRESS)) {
                progress.at(Double.parseDouble(line.substring(PROGRESS.length())));
            } else if (line.startsWith(RESULT)) {
                return line.substring(RESULT.length());
            } else if (line.startsWith(FAILURE)) {
                // A client that loses its server may notice before we do, but it does not know why.
                throw server.endsWithin(SERVER_END_MILLIS) ? server.endedEarly() : client.failed(decode(line));
            }
        }
    }

    private static String decode(String failure) {
        return URLDecoder.decode(failure.substring(FAILURE.length()), StandardCharsets.UTF_8);
    }

    /** Warnings are no failure, but they are not to be swallowed either. */
    private void tell(String role, ChildProcess child) {
        child.errors().forEach(line -> System.err.println("[" + name + " " + role + "] " + line));
    }
}
