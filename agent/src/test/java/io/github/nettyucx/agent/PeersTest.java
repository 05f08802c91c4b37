// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
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
        try (ApplicationProcess server = application(serverHasIt, "server").start()) {
            String port = server.awaitLine("listening ");
            String client = application(clientHasIt, "client", port, "3").run();
            assertEquals(3, Pattern.compile(Pattern.quote(ANSWERED)).matcher(client).results().count(), client);
            server.tell("");
            String served = server.awaitEnd();
            String lane = serverHasIt && clientHasIt ? "(sysv|posix)" : "socket";
            assertEquals(clientHasIt, hasLane(client, lane, "client", 3), client);
            assertEquals(serverHasIt, hasLane(served, lane, "server", 3), served);
        }
    }

    // ------------------------------------------------------------------------------------------- other programs

    /** Nobody hears of the transport who has not asked for it. */
    @Test
    void anOrdinaryServerHearsTheApplicationOnly() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            CompletableFuture<String> heard = CompletableFuture.supplyAsync(() -> greetAndEcho(server));
            String client = application(true, "client", Integer.toString(server.getLocalPort()), "1").run();
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
            String client = application(true, "client", Integer.toString(server.getLocalPort()), "2")
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
        try (ApplicationProcess server = application(true, "server").start()) {
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
