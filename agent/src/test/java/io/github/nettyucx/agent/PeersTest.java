// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two processes, of which both, one or none has the agent; and programs that are not Java's. */
@Timeout(180)
class PeersTest {

    private static final String ANSWER = PairApplication.GREETING + PairApplication.WORD;
    private static final String ANSWERED = "answer " + ANSWER;
    private static final String HOST = "127.0.0.1";
    private static final String NO_CONNECTION = "netty-ucx-agent: connections by lane\n  none\n";

    @TempDir
    static Path directory;

    private static ApplicationProcess.Builder application(boolean agent, String... arguments) throws Exception {
        ApplicationProcess.Builder builder = ApplicationProcess.of(PairApplication.class, arguments).onNetty("4.1");
        return agent ? builder.withAgent("report") : builder;
    }

    private static boolean hasLane(String output, String lane, String side, int connections) {
        return Pattern.compile("(?m)^  " + lane + " +" + side + " +127\\.0\\.0\\.1\\S* +" + connections + " +\\d")
                .matcher(output).find();
    }

    // ------------------------------------------------------------------------------------------- two processes

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void twoProcesses(boolean serverHasIt, boolean clientHasIt) throws Exception {
        try (ApplicationProcess server = application(serverHasIt, "server", HOST).start()) {
            String port = server.awaitLine("listening ");
            String client = application(clientHasIt, "client", HOST, port, "3").run();
            assertEquals(3, Pattern.compile(Pattern.quote(ANSWERED)).matcher(client).results().count(), client);
            server.tell("");
            String served = server.awaitEnd();
            String lane = serverHasIt && clientHasIt ? "(sysv|posix)" : "socket";
            assertEquals(clientHasIt, hasLane(client, lane, "client", 3), client);
            assertEquals(serverHasIt, hasLane(served, lane, "server", 3), served);
        }
    }

    // ------------------------------------------------------------------------------------------- a shared secret

    /** @param secret {@code none}, or what the secret is made of */
    private static ApplicationProcess.Builder withSecret(String secret, String... arguments) throws Exception {
        ApplicationProcess.Builder builder = application(true, arguments);
        if (secret.equals("none")) {
            return builder;
        }
        Path file = Files.writeString(directory.resolve(secret), (secret + ' ').repeat(8) + '\n');
        return builder.with("-Dio.github.nettyucx.secretFile=" + file);
    }

    @Test
    void whoKnowsTheSecretGetsALane() throws Exception {
        try (ApplicationProcess server = withSecret("right", "server", HOST).start()) {
            String client = withSecret("right", "client", HOST, server.awaitLine("listening "), "2").run();
            assertEquals(2, client.lines().filter(ANSWERED::equals).count(), client);
            server.tell("");
            assertTrue(hasLane(client, "(sysv|posix)", "client", 2), client);
            assertTrue(hasLane(server.awaitEnd(), "(sysv|posix)", "server", 2), server.output());
        }
    }

    /** The server has announced itself, and its answer is a refusal: no ordinary connection is made in its place. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "right | wrong | the server's proof is wrong: it has another shared secret",
            "right | none | the client has no shared secret, the server has one",
            "none | right | the server has no shared secret, the client has one"})
    void whoDoesNotKnowTheSecretIsToldAndHeardByNobody(String ofServer, String ofClient, String reason) throws Exception {
        try (ApplicationProcess server = withSecret(ofServer, "server", HOST).start()) {
            String client = withSecret(ofClient, "client", HOST, server.awaitLine("listening "), "2").run();
            assertEquals(2, client.lines().filter(line -> line.startsWith("no connection: ") && line.contains(reason))
                    .count(), client);
            server.tell("");
            String served = server.awaitEnd();
            assertEquals(0, words(served), served);
            assertTrue(client.contains(NO_CONNECTION) && served.contains(NO_CONNECTION), client + served);
        }
    }

    /** How many have been heard with a word: of others a server hears the end, as of any connection that comes and goes. */
    private static long words(String served) {
        return served.lines().filter(line -> line.startsWith("heard ") && !line.equals("heard ")).count();
    }

    /** The secret keeps others from the lanes, and not from the application. */
    @Test
    void anOrdinaryClientIsServedWithoutTheSecret() throws Exception {
        try (ApplicationProcess server = withSecret("right", "server", HOST).start()) {
            String client = application(false, "client", HOST, server.awaitLine("listening "), "1").run();
            assertTrue(client.lines().anyMatch(ANSWERED::equals), client);
            server.tell("");
            assertTrue(hasLane(server.awaitEnd(), "socket", "server", 1), server.output());
        }
    }

    /** Whether it is read with the first channel or with a loop; who has set it is to see that nobody is kept out. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "secretFile | /missing/secret | .*/missing/secret",
            "plainPeers | REFUSED | .*REFUSED",
            "registration | alway | .*alway",
            "peerTimeoutSeconds | 40000 | 40000",
            "plainGraceMillis | 0 | 0",
            "waitStrategy | foo | .*foo"})
    void aWrongSettingIsToldByItsName(String property, String value, String said) throws Exception {
        try (ApplicationProcess server = application(true, "server", HOST)
                .with("-Dio.github.nettyucx." + property + '=' + value).start()) {
            String client = application(false, "client", HOST, server.awaitLine("listening "), "1").run();
            assertTrue(client.lines().anyMatch(ANSWERED::equals), client);
            server.tell("");
            String served = server.awaitEnd();
            Pattern line = Pattern.compile(
                    "WARN.* takes connections from everybody .*: io.github.nettyucx." + property + ": " + said);
            assertEquals(1, served.lines().filter(each -> line.matcher(each).find()).count(), served);
            assertFalse(served.contains("ExceptionInInitializerError"), served);
        }
    }

    /** Unless they are to be turned away. */
    @Test
    void anOrdinaryClientIsTurnedAwayIfThatIsSaid() throws Exception {
        try (ApplicationProcess server = withSecret("right", "server", HOST)
                .with("-Dio.github.nettyucx.plainPeers=REFUSE").start()) {
            String port = server.awaitLine("listening ");
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(port))) {
                socket.setSoTimeout(15_000);
                socket.getOutputStream().write(PairApplication.WORD.getBytes(StandardCharsets.US_ASCII));
                assertEquals(-1, endOf(socket));
            }
            String client = withSecret("right", "client", HOST, port, "1").run();
            assertTrue(client.lines().anyMatch(ANSWERED::equals), client);
            server.tell("");
            String served = server.awaitEnd();
            assertEquals(1, words(served), served);
            assertTrue(hasLane(served, "(sysv|posix)", "server", 1) && !hasLane(served, "socket", "server", 1), served);
        }
    }

    /** A reset ends it as well. */
    private static int endOf(Socket socket) throws java.io.IOException {
        try {
            return socket.getInputStream().read();
        } catch (java.net.SocketException e) {
            return -1;
        }
    }

    // ------------------------------------------------------------------------------------------- other programs

    /** Nobody hears of the transport who has not asked for it. */
    @Test
    void anOrdinaryServerHearsTheApplicationOnly() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            CompletableFuture<String> heard = CompletableFuture.supplyAsync(() -> greetAndEcho(server));
            String client = application(true, "client", HOST, Integer.toString(server.getLocalPort()), "1").run();
            assertEquals(PairApplication.WORD, heard.get(30, TimeUnit.SECONDS));
            assertTrue(client.lines().anyMatch(ANSWERED::equals), client);
            assertTrue(hasLane(client, "socket", "client", 1), client);
            assertTrue(client.contains("has not announced this transport on this host"), client);
        }
    }

    private static String greetAndEcho(ServerSocket server) {
        try (Socket socket = server.accept()) {
            socket.getOutputStream().write(PairApplication.GREETING.getBytes(StandardCharsets.US_ASCII));
            byte[] word = socket.getInputStream().readNBytes(PairApplication.WORD.length());
            socket.getOutputStream().write(word);
            return new String(word, StandardCharsets.US_ASCII);
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** A network whose servers are asked has one that does not understand: it is asked once, and served as ever. */
    @Test
    void anOrdinaryServerInANamedNetworkIsAskedOnce() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            CompletableFuture<byte[]> asked = CompletableFuture.supplyAsync(() -> closeAfterFirstBytes(server));
            CompletableFuture<String> heard = asked.thenApplyAsync(first -> greetAndEcho(server) + greetAndEcho(server));
            String client = application(true, "client", HOST, Integer.toString(server.getLocalPort()), "2")
                    .with("-Dio.github.nettyucx.networks=127.0.0.0/8").run();
            String first = new String(asked.get(30, TimeUnit.SECONDS), StandardCharsets.ISO_8859_1);
            assertNotEquals(PairApplication.WORD.substring(0, 4), first.substring(0, 4));
            assertEquals(PairApplication.WORD.repeat(2), heard.get(30, TimeUnit.SECONDS));
            assertTrue(client.contains("the server did not answer"), client);
            assertEquals(2, Pattern.compile(Pattern.quote(ANSWERED)).matcher(client).results().count(), client);
            assertFalse(Pattern.compile(ApplicationProcess.LANE_OF_MEMORY).matcher(client).find(), client);
        }
    }

    private static byte[] closeAfterFirstBytes(ServerSocket server) {
        try (Socket socket = server.accept()) {
            return socket.getInputStream().readNBytes(8);
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void aServerWithTheAgentServesProgramsThatKnowNothingOfIt() throws Exception {
        try (ApplicationProcess server = application(true, "server", HOST).start()) {
            int port = Integer.parseInt(server.awaitLine("listening "));
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setSoTimeout(15_000);
                // It waits for the server to speak.
                assertEquals(PairApplication.GREETING, new String(
                        socket.getInputStream().readNBytes(PairApplication.GREETING.length()),
                        StandardCharsets.US_ASCII));
                socket.getOutputStream().write(PairApplication.WORD.getBytes(StandardCharsets.US_ASCII));
                assertEquals(PairApplication.WORD, new String(
                        socket.getInputStream().readNBytes(PairApplication.WORD.length()), StandardCharsets.US_ASCII));
            }
            server.tell("");
            assertTrue(hasLane(server.awaitEnd(), "socket", "server", 1), server.output());
        }
    }
}
