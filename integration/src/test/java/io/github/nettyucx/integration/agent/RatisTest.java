// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Apache Ratis, over the gRPC and the Netty that it has inside: three servers and a client, each a process. */
@Timeout(1800)
class RatisTest {

    static final List<Path> CLASS_PATH = JavaProcess.classPath("/org/apache/ratis/", "/org/slf4j/");
    private static final int SERVERS = 3;
    /** More with -Papplications. */
    private static final int ENTRIES = Integer.getInteger("io.github.nettyucx.test.entries", 2_000);

    private final MemoryDirectory directory;
    private final List<JavaProcess> servers = new ArrayList<>();

    RatisTest() throws IOException {
        directory = MemoryDirectory.make("ratis");
    }

    @AfterEach
    void end() throws IOException {
        servers.forEach(JavaProcess::close);
        directory.close();
    }

    private static String freePorts() {
        return FreePorts.take(SERVERS).stream().map(Object::toString).collect(Collectors.joining(","));
    }

    private static JavaProcess start(boolean agent, String... arguments) throws IOException {
        return JavaProcess.startMain(agent, CLASS_PATH, RatisApplication.class, arguments);
    }

    private String startServers(String rpc, String name, boolean... agents) throws Exception {
        String ports = freePorts();
        for (int id = 0; id < SERVERS; id++) {
            servers.add(start(agents[id], "server", rpc, Integer.toString(id), ports,
                    directory.resolve(name + id)));
        }
        for (JavaProcess server : servers) {
            server.awaitLine("serving ");
        }
        return ports;
    }

    /** Those that have been killed have told nothing. */
    private List<LaneReport> endServers() throws Exception {
        List<JavaProcess> alive = servers.stream().filter(JavaProcess::isAlive).toList();
        alive.forEach(server -> server.tell(""));
        List<LaneReport> reports = new ArrayList<>();
        for (JavaProcess server : alive) {
            reports.add(LaneReport.of(server.awaitEnd()));
        }
        servers.clear();
        return reports;
    }

    /** What a client has told. */
    private record Run(int leader, long writesPerSecond, long readsPerSecond, long longestMillis, String digest,
                       LaneReport lanes) {

        Run compareWith(String what, Run without) {
            System.out.printf("Ratis, 3 servers over %s: %,d writes/s and %,d reads/s without the agent, %,d (%.2f) and %,d "
                    + "(%.2f) with it%n", what, without.writesPerSecond, without.readsPerSecond, writesPerSecond,
                    (double) writesPerSecond / without.writesPerSecond, readsPerSecond,
                    (double) readsPerSecond / without.readsPerSecond);
            assertEquals(without.digest, digest);
            return this;
        }
    }

    /**
     * Everything that was acknowledged is there, and once. In which order is printed but not asked, for Ratis does not promise
     * it when a leader changes: its client marks a request anew as the first one after each failure (OrderedAsync), a
     * server's window lives no longer than the stream that it is of, and goes on behind a request that it has refused
     * (SlidingWindow). Seen over plain TCP, without the agent, in 2 of 12 runs, with 64 requests outstanding when the leader
     * was killed: after 148 came 205 to 212, then 149 to 204, then 213. Nothing was lost or there twice.
     */
    private Run exercise(boolean agent, String rpc, String name, boolean killsLeader, boolean... serverAgents)
            throws Exception {
        String ports = startServers(rpc, name, serverAgents);
        try (JavaProcess client = start(agent, "client", rpc, ports, Integer.toString(ENTRIES),
                Integer.toString(ENTRIES / 2))) {
            int leader = Integer.parseInt(client.awaitLine("leader n"));
            if (killsLeader) {
                servers.get(leader).kill();
            }
            long writes = Long.parseLong(client.awaitLine("writes per second "));
            long longest = Long.parseLong(client.awaitLine("longest wait millis "));
            System.out.println("Ratis, " + name + ": " + client.awaitLine("order "));
            long reads = Long.parseLong(client.awaitLine("reads per second "));
            String[] acknowledged = client.awaitLine("acknowledged ").split(" digest ");
            assertEquals(ENTRIES + " lost 0 written twice 0", acknowledged[0], client::output);
            return new Run(leader, writes, reads, longest, acknowledged[1], LaneReport.of(client.awaitEnd()));
        }
    }

    private static void requireMemory(List<LaneReport> servers) {
        int connecting = 0;
        for (LaneReport server : servers) {
            server.requireMemoryOrTooLate("server");
            // Over its Netty RPC a follower that has never stood for election has connected to nobody.
            if (server.rows().stream().anyMatch(row -> row.side().equals("client"))) {
                server.requireMemoryOrTooLate("client");
                connecting++;
            }
        }
        assertTrue(connecting > 0);
    }

    @Test
    void allWithTheAgent() throws Exception {
        compare("GRPC");
    }

    /**
     * It waits for the end of its closes on the event loop itself (NettyUtils.closeChannel), as with a socket it can. Not in
     * every build: that takes minutes, and DepartureTest shows the same.
     */
    @Tag("applications")
    @Test
    void allWithTheAgentOverRatisNettyRpc() throws Exception {
        compare("NETTY");
    }

    private void compare(String rpc) throws Exception {
        Run without = exercise(false, rpc, "without", false, false, false, false);
        endServers();
        exercise(true, rpc, "with", false, true, true, true).compareWith(rpc, without).lanes.requireMemoryOrTooLate("client");
        requireMemory(endServers());
    }

    @Test
    void theLeaderIsKilled() throws Exception {
        Run run = exercise(true, "GRPC", "killed", true, true, true, true);
        System.out.printf("Ratis, the leader killed half-way: no answer for up to %,d ms with the agent%n",
                run.longestMillis);
        // Ratis's own: 2 s without a leader until somebody stands, 3 s and 10 s for a request that is not answered.
        assertTrue(run.longestMillis < 30_000, () -> run.longestMillis + " ms without an answer");
        run.lanes.requireMemoryOrTooLate("client");
        for (LaneReport survivor : endServers()) {
            survivor.requireMemoryOrTooLate("server");
        }
    }

    @Test
    void oneOfThreeWithoutTheAgent() throws Exception {
        mixed("GRPC");
    }

    @Tag("applications")
    @Test
    void oneOfThreeWithoutTheAgentOverRatisNettyRpc() throws Exception {
        mixed("NETTY");
    }

    private void mixed(String rpc) throws Exception {
        Run run = exercise(false, rpc, "mixed", false, true, true, false);
        List<LaneReport> reports = endServers();
        String all = reports.get(0).output() + reports.get(1).output();
        if (run.leader != 2) {
            // Among themselves, and with those that have it not. Followers may have nothing to do with each other.
            assertTrue(reports.get(0).bytes(true) > 0 && reports.get(1).bytes(true) > 0, all);
        }
        assertTrue(reports.get(0).bytes(false) + reports.get(1).bytes(false) > 0, all);
        assertTrue(reports.get(2).rows().isEmpty(), reports.get(2).output());
        assertTrue(run.lanes.rows().isEmpty(), run.lanes.output());
    }
}
