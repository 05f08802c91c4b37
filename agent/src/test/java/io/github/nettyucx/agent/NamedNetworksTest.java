// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** A client and a server on two hosts, that find each other, or not, by the networks that are named. */
@Timeout(180)
class NamedNetworksTest {

    private static final String ANSWER = PairApplication.GREETING + PairApplication.WORD;
    private static final String THEIRS = "-Dio.github.nettyucx.networks=10.77.0.0/16";
    private static final String ANOTHER = "-Dio.github.nettyucx.networks=10.78.0.0/16";
    private static final String NOT_ANNOUNCED = "the server has not announced this transport on this host";
    private static final String NO_ANSWER = "the server did not answer as one of this transport";
    private static final String NO_ANSWER_BEFORE = "the server did not answer when it was asked a short time ago";
    /** How a handshake begins. */
    private static final String HANDSHAKE = "NettyUCX";
    /** How long a server is remembered. */
    private static final long MEMORY_SECONDS = 60;

    private TwoHosts hosts;

    @BeforeEach
    void make() throws Exception {
        hosts = TwoHosts.make();
    }

    @AfterEach
    void end() throws Exception {
        if (hosts != null) {
            hosts.close();
        }
    }

    private ApplicationProcess server(boolean agent, String... options) throws Exception {
        ApplicationProcess.Builder builder = ApplicationProcess.of(PairApplication.class, "server", TwoHosts.SERVER)
                .onNetty("4.1").launchedBy(hosts.server()).with(options);
        return (agent ? builder.withAgent("report") : builder).start();
    }

    private ApplicationProcess.Builder client(String... arguments) throws Exception {
        return ApplicationProcess.of(PairApplication.class, arguments).onNetty("4.1").launchedBy(hosts.client())
                .withAgent("report");
    }

    private static boolean hasRow(String output, String lane, String side, int connections, String reason) {
        return Pattern.compile("(?m)^  " + lane + " +" + side + " +10\\.77\\.0\\.\\S+ +" + connections + " +\\d+ +\\d+ +"
                + reason).matcher(output).find();
    }

    private static List<String> heard(String served) {
        return served.lines().filter(line -> line.startsWith("heard ")).map(line -> line.substring(6)).toList();
    }

    /** Both know that they are of this transport: the lane is what the two have in common, which for lane socket is no other. */
    @ParameterizedTest
    @CsvSource({"'shm,tcp,socket', tcp, ''", "'shm,socket', socket, shm: "})
    void aServerThatAnswersGetsTheBestLane(String lanes, String lane, String reason) throws Exception {
        String setting = "-Dio.github.nettyucx.lanes=" + lanes;
        try (ApplicationProcess server = server(true, THEIRS, setting)) {
            String client = client("client", TwoHosts.SERVER, server.awaitLine("listening "), "2").with(THEIRS, setting).run();
            server.tell("");
            String served = server.awaitEnd();
            assertEquals(2, client.lines().filter(("answer " + ANSWER)::equals).count(), client);
            assertEquals(Collections.nCopies(2, PairApplication.WORD), heard(served), served);
            assertTrue(hasRow(client, lane, "client", 2, reason), client);
            assertTrue(hasRow(served, lane, "server", 2, reason), served);
        }
    }

    @Test
    void anOrdinaryServerIsAskedOnce() throws Exception {
        try (ApplicationProcess server = server(false);
                ApplicationProcess client = asking(server)) {
            for (int connection = 0; connection < 3; connection++) {
                ask(client);
            }
            String asked = end(client);
            server.tell("");
            List<String> heard = heard(server.awaitEnd());
            assertTrue(heard.getFirst().startsWith(HANDSHAKE), heard::toString);
            assertEquals(Collections.nCopies(3, PairApplication.WORD), heard.subList(1, heard.size()));
            assertTrue(hasRow(asked, "socket", "client", 1, NO_ANSWER), asked);
            assertTrue(hasRow(asked, "socket", "client", 2, NO_ANSWER_BEFORE), asked);
        }
    }

    @Tag("applications")
    @Test
    void andAgainAfterAMinute() throws Exception {
        try (ApplicationProcess server = server(false);
                ApplicationProcess client = asking(server)) {
            ask(client);
            long asked = System.nanoTime();
            awaitSecond(asked, MEMORY_SECONDS - 5);
            ask(client);
            assumeTrue(System.nanoTime() - asked < TimeUnit.SECONDS.toNanos(MEMORY_SECONDS),
                    "the machine has stood still: the second time was to be within the minute");
            awaitSecond(asked, MEMORY_SECONDS + 1);
            ask(client);
            String told = end(client);
            server.tell("");
            List<String> heard = heard(server.awaitEnd());
            assertEquals(List.of(true, false, false, true, false),
                    heard.stream().map(each -> each.startsWith(HANDSHAKE)).toList(), heard::toString);
            assertTrue(hasRow(told, "socket", "client", 2, NO_ANSWER), told);
        }
    }

    /** The time itself is what is tested. */
    private static void awaitSecond(long since, long second) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(since + TimeUnit.SECONDS.toNanos(second) - System.nanoTime());
    }

    private ApplicationProcess asking(ApplicationProcess server) throws Exception {
        return client("asked", TwoHosts.SERVER, server.awaitLine("listening "))
                .with(THEIRS, "-Dio.github.nettyucx.answerMillis=3000").start();
    }

    private static void ask(ApplicationProcess client) throws Exception {
        client.tell("");
        assertEquals(ANSWER, client.awaitLine("answer "));
    }

    private static String end(ApplicationProcess client) throws Exception {
        client.endInput();
        return client.awaitEnd();
    }

    /** It may have the agent, and then the network named. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aServerElsewhereHearsTheApplicationOnly(boolean agent) throws Exception {
        try (ApplicationProcess server = server(agent, THEIRS)) {
            String client = client("client", TwoHosts.SERVER, server.awaitLine("listening "), "2").with(ANOTHER).run();
            server.tell("");
            String served = server.awaitEnd();
            assertEquals(Collections.nCopies(2, PairApplication.WORD), heard(served), served);
            assertTrue(hasRow(client, "socket", "client", 2, NOT_ANNOUNCED), client);
            assertEquals(agent, hasRow(served, "socket", "server", 2, ""), served);
        }
    }
}
