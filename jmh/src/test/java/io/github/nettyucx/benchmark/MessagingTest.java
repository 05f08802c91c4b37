// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.Lane;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import java.util.ArrayList;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages of many threads, in this process. */
@Timeout(60)
class MessagingTest {
    private static final int OPERATIONS = 2000;

    @ParameterizedTest
    @CsvSource({
        "MESSAGES,      MESSAGING,       16,     4, UCX",
        "MESSAGES,      MESSAGING,       100000, 2, UCX",
        "MESSAGES,      WRITE_AND_FLUSH, 16,     4, UCX",
        "MESSAGES,      MESSAGING,       16,     4, NIO",
        "MESSAGE_CALLS, MESSAGING,       16,     2, UCX",
        "MESSAGE_CALLS, MESSAGING_LOOP,  16,     2, UCX"})
    void allAreCounted(Work work, MessagingWay way, int size, int threads, TransportKind transport) throws Exception {
        var scenario = new Scenario(work, size, 1, threads, 1, 1, 0, OPERATIONS, 0.05, null, null);
        var task = new Task(scenario, new Setting(transport, Lane.AUTO, null));
        try (var server = way == MessagingWay.WRITE_AND_FLUSH ? BenchmarkServer.start(task) : MessagingServer.start(task);
             var client = new MessagingClient(task, way, address(server), ProcessHandle.current().pid(), () -> { })) {
            var before = server.state();
            var sample = Pair.combine(scenario, client.measure(), before, server.state());
            assertEquals((long) OPERATIONS * threads, sample.operations());
            assertEquals(sample.operations() / sample.seconds(), sample.figures().get(Metric.RATE), 1e-6);
            for (var metric : work.metrics()) {
                assertTrue(Double.isFinite(sample.figures().get(metric)), sample.toString());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"UCX, 3, 2", "NIO, 2, 1"})
    void allNodesReceive(TransportKind transport, int number, int threads) throws Exception {
        var scenario = new Scenario(Work.ALL_TO_ALL, 16, number, threads, 1, 1, 0, 0, 0.05, null, null);
        var nodes = new ArrayList<AllToAllNode>();
        try {
            for (var id = 0; id < number; id++) {
                nodes.add(new AllToAllNode(new Task(scenario, new Setting(transport, Lane.AUTO, null)), id));
            }
            var addresses = nodes.stream().map(AllToAllNode::address).toList();
            nodes.forEach(node -> node.connect(addresses));
            nodes.forEach(AllToAllNode::send);
            var samples = new ArrayList<Sample>();
            for (var node : nodes) {
                node.warmUp();
                samples.add(anyReceived(node));
            }
            var together = AllToAll.together(scenario, samples);
            assertEquals(samples.stream().mapToLong(Sample::operations).sum(), together.operations());
            for (var metric : Work.ALL_TO_ALL.metrics()) {
                assertTrue(Double.isFinite(together.figures().get(metric)), together.toString());
            }
            for (var node : nodes) {
                node.stop();
            }
        } finally {
            nodes.forEach(AllToAllNode::close);
        }
    }

    /** Where more threads send than there are processors, a node may get none for the whole of a measurement. */
    private static Sample anyReceived(AllToAllNode node) throws InterruptedException {
        while (true) {
            var sample = node.measure();
            if (sample.operations() > 0) {
                return sample;
            }
        }
    }

    private static HostAndPort address(MeasuredServer server) {
        return server instanceof MessagingServer messaging ? messaging.address() : ((BenchmarkServer) server).address();
    }
}
