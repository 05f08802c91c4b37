// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * How much longer a process takes to start with the agent. With it and without it in turns, so that whatever else the machine
 * has to do meets both. It is to be 300 ms at most, which docs/transparent.md has figures of. What is asked for here are
 * ratios of the best rounds, because a slower machine is slower in either case.
 */
@Tag("alone")
@Timeout(600)
class AgentStartTest {

    private static final int ROUNDS = Integer.getInteger("io.github.nettyucx.test.starts", 3);
    /** Further ones only where the machine has been slow. */
    private static final int MOST_ROUNDS = ROUNDS + 6;

    /** What is timed, each from the start of its process. */
    private enum Start {
        /** To the end of a program that knows nothing of Netty. */
        PLAIN("a program without Netty, to its end", 4),
        LISTENING("Netty's HTTP server, until it listens", 3),
        /** The server runs already, and has the agent if the client has it. It has not served anybody yet. */
        ANSWERED("Netty's HTTP client, until it has its first answer", 3);

        private final String what;
        /** How many times as long it may take with the agent. Seen: 2.1, 1.9 and 2.1. */
        private final double most;

        Start(String what, double most) {
            this.what = what;
            this.most = most;
        }
    }

    /** A program without Netty. */
    public static final class Plain {

        private Plain() {
        }

        public static void main(String[] arguments) {
            System.out.println("plain");
        }
    }

    private final Map<Start, List<Double>> without = new EnumMap<>(Start.class);
    private final Map<Start, List<Double>> with = new EnumMap<>(Start.class);

    private static List<Path> netty() throws Exception {
        try (Stream<Path> jars = Files.list(Path.of(System.getProperty("io.github.nettyucx.test.applications"),
                "netty-example"))) {
            return jars.toList();
        }
    }

    private void round(boolean agent) throws Exception {
        long begin = System.nanoTime();
        try (JavaProcess plain = JavaProcess.startMain(agent, JavaProcess.classPath(), Plain.class)) {
            plain.awaitEnd();
            note(agent, Start.PLAIN, begin);
        }
        int port = FreePorts.take();
        begin = System.nanoTime();
        try (JavaProcess server = JavaProcess.start(agent, netty(), "-Dport=" + port,
                "io.netty.example.http.helloworld.HttpHelloWorldServer")) {
            server.await(" ACTIVE");
            note(agent, Start.LISTENING, begin);
            begin = System.nanoTime();
            try (JavaProcess client = JavaProcess.start(agent, netty(), "-Durl=http://127.0.0.1:" + port + "/",
                    "io.netty.example.http.snoop.HttpSnoopClient")) {
                client.await("END OF CONTENT");
                note(agent, Start.ANSWERED, begin);
                String called = client.awaitEnd();
                if (agent && LaneReport.of(called).connections(true, "client") == 0) {
                    // On a busy machine it may ask later than the server waits. That is not what is timed.
                    assertTrue(called.contains("did not answer"), called);
                    with.get(Start.ANSWERED).removeLast();
                }
            }
        }
    }

    private void note(boolean agent, Start start, long begin) {
        (agent ? with : without).computeIfAbsent(start, key -> new ArrayList<>()).add((System.nanoTime() - begin) / 1e6);
    }

    private static double best(List<Double> millis) {
        return millis.stream().mapToDouble(each -> each).min().orElseThrow();
    }

    private static double median(List<Double> millis) {
        List<Double> sorted = millis.stream().sorted().toList();
        return sorted.get(sorted.size() / 2);
    }

    @Test
    void startsSoon() throws Exception {
        for (int round = 0; round < ROUNDS || round < MOST_ROUNDS && !isSoon(); round++) {
            boolean first = round % 2 == 0;
            round(first);
            round(!first);
        }
        assertTrue(!with.get(Start.ANSWERED).isEmpty(), "no connection went over shared memory");
        for (Start start : Start.values()) {
            List<Double> before = without.get(start);
            List<Double> after = with.get(start);
            System.out.printf("Start, %s: median of %d %,.0f ms without the agent, %,.0f ms with it (%,.0f more); best %,.0f and "
                    + "%,.0f (%,.0f more)%n", start.what, after.size(), median(before), median(after), median(after) - median(before),
                    best(before), best(after), best(after) - best(before));
        }
        for (Start start : Start.values()) {
            double ratio = ratio(start);
            assertTrue(ratio <= start.most, () -> start.what + ": " + ratio + " times as long as without the agent");
        }
    }

    private double ratio(Start start) {
        return best(with.get(start)) / best(without.get(start));
    }

    private boolean isSoon() {
        return Arrays.stream(Start.values()).allMatch(start -> !with.get(start).isEmpty() && ratio(start) <= start.most);
    }
}
