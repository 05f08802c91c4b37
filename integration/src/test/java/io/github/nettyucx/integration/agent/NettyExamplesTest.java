// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Netty's own examples, {@code io.netty:netty-example}, as they are published. */
@Timeout(180)
class NettyExamplesTest {

    private static final String PACKAGE = "io.netty.example.";
    /** How long the echo example is left to itself. */
    private static final long ECHO_MILLIS = 3_000;
    private static final int ECHO_BYTES = 256;
    /**
     * All answers together, uncompressed, stay below the 64 KiB that the example's decoder lets one piece of compressed
     * bytes become. How many of them a read finds is a matter of chance: with 1,000, too many now and then, over TCP too.
     */
    private static final int FACTORIAL = 300;
    private static final String COUNT = "-Dcount=" + FACTORIAL;
    private static final String ENGLISH = "-Duser.language=en";
    private static final int NEEDED_JAVA = 25;
    private static final Path HOMES = Path.of("/usr/lib/jvm");
    /** As each JDK tells it, where 1.8 is 8. */
    private static final Pattern RELEASE = Pattern.compile("JAVA_VERSION=\"(?:1\\.)?(\\d+)");

    private static List<Path> classPath() throws Exception {
        try (Stream<Path> jars = Files.list(Path.of(System.getProperty("io.github.nettyucx.test.applications"),
                "netty-example"))) {
            return jars.toList();
        }
    }

    private static String[] arguments(String name, int port, String... options) {
        return Stream.concat(Stream.of("-Dport=" + port, "-Dhost=127.0.0.1"),
                Stream.concat(Stream.of(options), Stream.of(PACKAGE + name))).toArray(String[]::new);
    }

    private static JavaProcess start(boolean agent, String name, int port, String... options) throws Exception {
        return JavaProcess.start(agent, classPath(), arguments(name, port, options));
    }

    /** All of the examples' servers log what happens to their channel. */
    private static JavaProcess serve(boolean agent, String name, int port) throws Exception {
        JavaProcess server = start(agent, name, port);
        server.await(" ACTIVE");
        return server;
    }

    private static void requireLanes(boolean serverHasIt, String server, boolean clientHasIt, String client) {
        boolean memory = serverHasIt && clientHasIt;
        LaneReport served = LaneReport.of(server);
        LaneReport called = LaneReport.of(client);
        assertEquals(serverHasIt, served.connections(memory, "server") > 0, server);
        assertEquals(clientHasIt, called.connections(memory, "client") > 0, client);
        assertEquals(0, served.connections(!memory, "server") + called.connections(!memory, "client"), server + client);
    }

    // ------------------------------------------------------------------------------------------- echo

    /** What the kernel says that a process has read: all that goes over its sockets, and a little more. */
    private static long bytesRead(JavaProcess process) throws Exception {
        return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "io")).stream()
                .filter(line -> line.startsWith("rchar: ")).mapToLong(line -> Long.parseLong(line.substring(7)))
                .findFirst().orElseThrow();
    }

    /** @return round trips in the first seconds */
    private static long echo(boolean agent) throws Exception {
        int port = FreePorts.take();
        try (JavaProcess server = serve(agent, "echo.EchoServer", port);
                JavaProcess client = start(agent, "echo.EchoClient", port, "-Dsize=" + ECHO_BYTES)) {
            server.await(" READ COMPLETE");
            long before = bytesRead(client);
            // The time in which round trips are counted.
            Thread.sleep(ECHO_MILLIS);
            long read = bytesRead(client) - before;
            String called = client.terminate();
            String served = server.terminate();
            if (!agent) {
                return read / ECHO_BYTES;
            }
            requireLanes(true, served, true, called);
            return LaneReport.of(called).bytes(true) / 2 / ECHO_BYTES;
        }
    }

    @Test
    void echo() throws Exception {
        long without = echo(false);
        long with = echo(true);
        assertTrue(without > 0 && with > 0, without + " and " + with);
        System.out.printf("Netty's echo example, %,d bytes: %,d round trips in %d s without the agent, %,d with it"
                + " (%.2f)%n", ECHO_BYTES, without, TimeUnit.MILLISECONDS.toSeconds(ECHO_MILLIS), with,
                (double) with / without);
    }

    // ------------------------------------------------------------------------------------------- results

    @ParameterizedTest
    @CsvSource({"false, false", "true, true", "true, false", "false, true"})
    void factorial(boolean serverHasIt, boolean clientHasIt) throws Exception {
        int port = FreePorts.take();
        try (JavaProcess server = serve(serverHasIt, "factorial.FactorialServer", port);
                JavaProcess client = start(clientHasIt, "factorial.FactorialClient", port, COUNT, ENGLISH)) {
            requireFactorial(client);
            requireLanes(serverHasIt, server.terminate(), clientHasIt, client.awaitEnd());
        }
    }

    private static void requireFactorial(JavaProcess client) throws Exception {
        BigInteger expected = IntStream.rangeClosed(1, FACTORIAL).mapToObj(BigInteger::valueOf)
                .reduce(BigInteger.ONE, BigInteger::multiply);
        assertEquals(String.format(Locale.ENGLISH, "%,d", expected),
                client.awaitLine(String.format(Locale.ENGLISH, "Factorial of %,d is: ", FACTORIAL)));
    }

    /** One line says so, and that is all. What it talks to may have the agent all the same. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anOlderJavaStaysAsItWas(boolean serverIsOlder) throws Exception {
        Path older = olderJava();
        assumeTrue(older != null, "no Java before " + NEEDED_JAVA + " in " + HOMES);
        int port = FreePorts.take();
        String serverName = "factorial.FactorialServer";
        try (JavaProcess server = serverIsOlder ? JavaProcess.startOn(older, true, classPath(), arguments(serverName, port))
                : start(true, serverName, port)) {
            server.await(" ACTIVE");
            try (JavaProcess client = JavaProcess.startOn(older, true, classPath(),
                    arguments("factorial.FactorialClient", port, COUNT, ENGLISH))) {
                requireFactorial(client);
                requireOneLine(client.awaitEnd());
            }
            String served = server.terminate();
            if (serverIsOlder) {
                requireOneLine(served);
            } else {
                LaneReport lanes = LaneReport.of(served);
                assertTrue(lanes.connections(false, "server") > 0 && lanes.connections(true, "server") == 0, served);
            }
        }
    }

    private static void requireOneLine(String output) {
        List<String> lines = output.lines().filter(line -> line.contains("netty-ucx")).toList();
        assertTrue(lines.size() == 1 && lines.getFirst().startsWith("INFO netty-ucx-agent: the application runs as without the"
                + " agent: it needs Java 25 or later, and this is Java "), output);
    }

    /** {@code null} if there is none. */
    private static Path olderJava() throws Exception {
        if (!Files.isDirectory(HOMES)) {
            return null;
        }
        try (Stream<Path> homes = Files.list(HOMES)) {
            return homes.filter(home -> Files.isExecutable(home.resolve("bin/java")) && isOlder(home)).findFirst().orElse(null);
        }
    }

    private static boolean isOlder(Path home) {
        try {
            Matcher release = RELEASE.matcher(Files.readString(home.resolve("release")));
            return release.find() && Integer.parseInt(release.group(1)) < NEEDED_JAVA;
        } catch (IOException e) {
            return false;
        }
    }

    /** The server speaks first. */
    @ParameterizedTest
    @CsvSource({"false, false", "true, true", "true, false", "false, true"})
    void telnet(boolean serverHasIt, boolean clientHasIt) throws Exception {
        int port = FreePorts.take();
        try (JavaProcess server = serve(serverHasIt, "telnet.TelnetServer", port);
                JavaProcess client = start(clientHasIt, "telnet.TelnetClient", port)) {
            client.awaitLine("Welcome to ");
            client.tell("hello");
            client.awaitLine("Did you say 'hello'?");
            client.tell("bye");
            client.awaitLine("Have a good day!");
            requireLanes(serverHasIt, server.terminate(), clientHasIt, client.awaitEnd());
        }
    }

    @Test
    void http() throws Exception {
        assertEquals(snoop(false), snoop(true));
    }

    /** What the server tells of the request, and the client of the answer. */
    private static List<String> snoop(boolean agent) throws Exception {
        int port = FreePorts.take();
        try (JavaProcess server = serve(agent, "http.snoop.HttpSnoopServer", port);
                JavaProcess client = start(agent, "http.snoop.HttpSnoopClient", port,
                        "-Durl=http://127.0.0.1:" + port + "/path")) {
            String called = client.awaitEnd();
            List<String> told = called.lines().filter(line -> line.matches("(STATUS|VERSION|HEADER|REQUEST_URI|PARAM|"
                    + "HOSTNAME|CONTENT|END OF).*")).map(line -> line.replace(":" + port, ":PORT")).toList();
            assertTrue(told.contains("REQUEST_URI: /path") && told.contains("STATUS: 200 OK"), called);
            String served = server.terminate();
            if (agent) {
                requireLanes(true, served, true, called);
            }
            return told;
        }
    }

    /** Programs of others' come to the same port. */
    @Test
    void anHttpServerServesOthers() throws Exception {
        int port = FreePorts.take();
        try (JavaProcess server = serve(true, "http.helloworld.HttpHelloWorldServer", port);
                HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            for (int request = 0; request < 100; request++) {
                HttpResponse<String> answer = client.send(HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + port + "/")).build(), HttpResponse.BodyHandlers.ofString());
                assertEquals("200 Hello World", answer.statusCode() + " " + answer.body());
            }
            LaneReport report = LaneReport.of(server.terminate());
            assertTrue(report.connections(false, "server") > 0 && report.connections(true, "server") == 0, report.output());
        }
    }
}
