// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.transparent;

import io.github.nettyucx.examples.Console;
import io.github.nettyucx.examples.ExampleCommand;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.ExampleRunner;
import io.github.nettyucx.examples.TextTable;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Netty's own examples, unmodified, with the agent and without it: the command line of it. */
@Command(
        description = {
            "Runs Netty's own examples (io.netty:netty-example), unmodified, with the agent and without it.%n",
            "First the echo server and its client, each in a JVM of its own, for a while. Then the HTTP server, whose "
                    + "clients are Netty's and curl.%n"},
        customSynopsis = {"./run-example.sh transparent [OPTION]...", ""},
        sortOptions = false,
        footer = {
            "",
            "Examples:",
            "  ./run-example.sh transparent",
            "  ./run-example.sh transparent --seconds 20"})
public final class Transparent extends ExampleCommand {
    private static final String NAME = "transparent";
    private static final int BYTES = 256;
    /** Netty's server says so when a client has come and sent something. */
    private static final String TALKING = " READ COMPLETE";
    private static final String LISTENING = " ACTIVE";
    /** At the end of the server's address. */
    private static final Pattern PORT = Pattern.compile(":(\\d+)] ACTIVE");
    private static final String HELLO = "Hello World";
    private static final int MAX_SECONDS = 3600;

    @Option(names = "--seconds", paramLabel = "N", description = "How long each pair echoes, from 1 to 3600. Default: 5.")
    private int seconds = 5;

    /**
     * What one pair did.
     *
     * @param lane that carried it
     */
    private record Echoed(String lane, double perSecond) {
    }

    public static void main(String[] args) {
        ExampleRunner.main(NAME, new Transparent(), args);
    }

    @Override
    public Integer call() throws Exception {
        if (seconds < 1 || seconds > MAX_SECONDS) {
            throw arguments().rejected("--seconds: " + seconds + " will not do. Expected 1 to " + MAX_SECONDS + ".");
        }
        var without = echo(false);
        var with = echo(true);
        var table = new TextTable().left("agent").left("lane").right("round trips/s").right("to without");
        table.row(List.of("without", without.lane, TextTable.whole(without.perSecond), "–"));
        table.row(List.of("with", with.lane, TextTable.whole(with.perSecond),
                TextTable.ratio(with.perSecond / without.perSecond)));
        Console.print("Netty's echo example, " + BYTES + " bytes, one connection:\n\n" + table.render() + '\n');
        Console.print("Netty's HTTP server, one request each:\n\n" + http().render());
        return 0;
    }

    /** A server on a port that the system has chosen. */
    private static UnmodifiedProcess serve(String name, boolean agent) {
        return UnmodifiedProcess.start(name, agent, 0);
    }

    /** Of a server, when it listens. */
    private static int awaitPort(UnmodifiedProcess server) throws InterruptedException {
        var line = server.await(LISTENING);
        var port = PORT.matcher(line);
        if (!port.find()) {
            throw new ExampleFailure("Netty's server does not say its port: " + line);
        }
        return Integer.parseInt(port.group(1));
    }

    private Echoed echo(boolean agent) throws Exception {
        try (var server = serve("echo.EchoServer", agent)) {
            var port = awaitPort(server);
            try (var client = UnmodifiedProcess.start("echo.EchoClient", agent, port)) {
                server.await(TALKING);
                var before = client.bytesRead();
                TimeUnit.SECONDS.sleep(seconds);
                var read = client.bytesRead() - before;
                var report = LaneReport.of(client.end());
                if (!agent) {
                    return new Echoed("tcp", (double) read / BYTES / seconds);
                }
                var row = report.onlyRow();
                return new Echoed(row.lane(), (double) row.received() / BYTES / seconds);
            }
        }
    }

    /** Who sends the HTTP server a request. */
    private enum Client {
        WITHOUT("Netty's, without"),
        WITH("Netty's, with the agent"),
        CURL("curl");

        private final String name;

        Client(String name) {
            this.name = name;
        }
    }

    private static TextTable http() throws Exception {
        var table = new TextTable().left("server").left("client").left("answer").left("lane");
        for (var agent : List.of(false, true)) {
            for (var client : Client.values()) {
                table.row(http(agent, client));
            }
        }
        return table;
    }

    /** @return a row: the server, the client, its answer, and the lane */
    private static List<String> http(boolean agent, Client client) throws Exception {
        try (var server = serve("http.helloworld.HttpHelloWorldServer", agent)) {
            var url = "http://127.0.0.1:" + awaitPort(server) + "/";
            var output = client == Client.CURL ? curl(url) : snoop(client == Client.WITH, url);
            var lane = agent ? LaneReport.of(server.end()).onlyRow().lane()
                    : client == Client.WITH ? LaneReport.of(output).onlyRow().lane() : "tcp";
            return List.of(agent ? "with" : "without", client.name,
                    output.contains(HELLO) ? HELLO : output, lane);
        }
    }

    private static String snoop(boolean agent, String url) throws Exception {
        // It takes the port from its URL.
        try (var client = UnmodifiedProcess.start("http.snoop.HttpSnoopClient", agent, 0, "-Durl=" + url)) {
            return client.awaitEnd();
        }
    }

    private static String curl(String url) throws IOException, InterruptedException {
        Process curl;
        try {
            curl = new ProcessBuilder("curl", "--silent", "--show-error", "--max-time", "20", url)
                    .redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new ExampleFailure("there is no curl on the PATH. Install curl.", e);
        }
        var answer = new String(curl.getInputStream().readAllBytes());
        if (curl.waitFor() != 0) {
            throw new ExampleFailure("curl " + url + " failed: " + answer);
        }
        return answer;
    }
}
