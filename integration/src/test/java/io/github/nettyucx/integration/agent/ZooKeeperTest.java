// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Apache ZooKeeper, three servers, whose clients come by Netty. */
@Tag("applications")
@Timeout(300)
class ZooKeeperTest {

    private static final int SERVERS = 3;
    private static final int NODES = 1_000;

    @TempDir
    Path directory;

    private final List<JavaProcess> servers = new ArrayList<>();
    private final List<Integer> ports = new ArrayList<>();

    @AfterEach
    void end() {
        servers.forEach(JavaProcess::close);
    }

    private static List<Path> classPath() throws Exception {
        try (Stream<Path> jars = Files.list(Path.of(System.getProperty("io.github.nettyucx.test.applications"),
                "zookeeper"))) {
            List<Path> all = new ArrayList<>(JavaProcess.classPath("/org/slf4j/"));
            jars.forEach(all::add);
            return all;
        }
    }

    private void startServers(String name, boolean agent) throws Exception {
        List<Integer> free = FreePorts.take(3 * SERVERS);
        ports.clear();
        StringBuilder members = new StringBuilder();
        for (int id = 0; id < SERVERS; id++) {
            ports.add(free.get(id));
            members.append("server.").append(id + 1).append("=127.0.0.1:").append(free.get(SERVERS + id)).append(':')
                    .append(free.get(2 * SERVERS + id)).append('\n');
        }
        for (int id = 0; id < SERVERS; id++) {
            Path data = Files.createDirectories(directory.resolve(name + id));
            Files.writeString(data.resolve("myid"), Integer.toString(id + 1));
            Path configuration = data.resolve("zoo.cfg");
            Files.writeString(configuration, "tickTime=500\ninitLimit=20\nsyncLimit=10\ndataDir=" + data
                    + "\nclientPort=" + ports.get(id) + "\nclientPortAddress=127.0.0.1\n4lw.commands.whitelist=*\n"
                    + members);
            servers.add(JavaProcess.start(agent, classPath(),
                    "-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
                    "-Dzookeeper.admin.enableServer=false", "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                    configuration.toString()));
        }
    }

    private JavaProcess startClient(boolean agent, String name, String at) throws Exception {
        return JavaProcess.start(agent, classPath(),
                "-Dzookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty",
                ZooKeeperApplication.class.getName(), at, name, Integer.toString(NODES));
    }

    private String allServers() {
        return ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
    }

    /**
     * @param nodesPerSecond that a client made, one after the other
     * @param digests        of what the two clients have read
     */
    private record Run(long nodesPerSecond, long readsPerSecond, List<String> digests) {
    }

    /** With a client that has not the agent beside one that has it, if the servers have it. */
    private Run exercise(String name, boolean agent) throws Exception {
        startServers(name, agent);
        try (JavaProcess client = startClient(agent, "one", allServers());
                JavaProcess other = startClient(false, "two", allServers())) {
            long nodes = Long.parseLong(client.awaitLine("nodes per second "));
            int with = Integer.parseInt(client.awaitLine("with "));
            other.awaitLine("with ");
            // One dies, two are a majority.
            servers.get(ports.indexOf(with)).kill();
            client.tell("");
            other.tell("");
            long reads = Long.parseLong(client.awaitLine("reads per second "));
            List<String> digests = List.of(client.awaitLine("digest "), other.awaitLine("digest "));
            LaneReport told = LaneReport.of(client.awaitEnd());
            assertTrue(LaneReport.of(other.awaitEnd()).rows().isEmpty(), other.output());
            StringBuilder served = new StringBuilder();
            for (JavaProcess server : servers) {
                served.append(server.isAlive() ? server.terminate() : "");
            }
            servers.clear();
            if (agent) {
                told.requireMemory("client");
                assertTrue(told.connections(true, "client") > 1, told.output());
                LaneReport all = LaneReport.of(served.toString());
                assertTrue(all.connections(true, "server") > 0, all.output());
            }
            return new Run(nodes, reads, digests);
        }
    }

    @Test
    void sessionsSurviveTheDeathOfTheirServer() throws Exception {
        Run without = exercise("without", false);
        Run with = exercise("with", true);
        System.out.printf("ZooKeeper, 3 servers: %,d nodes/s and %,d reads/s without the agent, %,d (%.2f) and %,d (%.2f) "
                + "with it; reads go on after a server's death%n", without.nodesPerSecond, without.readsPerSecond,
                with.nodesPerSecond, (double) with.nodesPerSecond / without.nodesPerSecond, with.readsPerSecond,
                (double) with.readsPerSecond / without.readsPerSecond);
        assertEquals(without.digests, with.digests);
        assertEquals(with.digests.getFirst(), with.digests.getLast());
    }
}
