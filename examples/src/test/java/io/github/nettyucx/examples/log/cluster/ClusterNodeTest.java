// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.log.client.FreePort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How brokers find each other. */
@Timeout(120)
class ClusterNodeTest {
    private static final String IPV6 = "::1";
    private static final long SECONDS = 60;

    @TempDir
    private Path directory;

    @Test
    void anIpv6AddressStandsInBrackets() {
        assertEquals("[::1]:7778", ClusterNode.peer(Node.parse("[::1]:7777/7778")).getAddress());
        assertEquals("node1:7778", ClusterNode.peer(Node.parse("node1:7777/7778")).getAddress());
    }

    private static boolean hasIpv6() {
        try (var socket = new ServerSocket(0, 1, InetAddress.getByName(IPV6))) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void brokersWithIpv6AddressesChooseALeader() throws Exception {
        assumeTrue(hasIpv6(), "this machine has no IPv6");
        var random = new SplittableRandom();
        var address = InetAddress.getByName(IPV6);
        var nodes = List.of(new Node(new HostAndPort(IPV6, 1), FreePort.take(random, address)),
                new Node(new HostAndPort(IPV6, 2), FreePort.take(random, address)));
        var started = new ArrayList<ClusterNode>();
        try {
            for (var node : nodes) {
                var settings = new ClusterSettings("test", node, nodes);
                started.add(ClusterNode.start(settings, directory.resolve(node.id()), _ -> { }));
            }
            var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (started.stream().noneMatch(ClusterNode::leadsRaft)) {
                assertTrue(System.nanoTime() < deadline, () -> "nobody leads: " + started);
                // Between two looks: nothing tells of it.
                Thread.sleep(10);
            }
        } finally {
            started.forEach(ClusterNode::close);
        }
    }
}
