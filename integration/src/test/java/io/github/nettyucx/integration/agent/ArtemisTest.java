// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Apache ActiveMQ Artemis: a broker, a producer and a consumer by JMS, each a process. */
@Tag("applications")
@Timeout(300)
class ArtemisTest {

    private static final int MESSAGES = 5_000;
    private static final int LARGE = 100 * 1024 * 1024;
    private static final List<String> QUEUES = List.of("kept", "passing", "large");
    private static final List<String> UNITS = List.of("messages/s", "messages/s", "MB/s");

    /** @param received for each of the queues */
    private record Run(List<Long> sent, List<Long> received, String digest, LaneReport broker, LaneReport producer,
                       LaneReport consumer) {
    }

    private static JavaProcess start(boolean agent, String... arguments) throws Exception {
        return JavaProcess.startMain(agent, JavaProcess.application("artemis"), ArtemisApplication.class, arguments);
    }

    private static Run run(boolean brokerHasIt, boolean producerHasIt, boolean consumerHasIt) throws Exception {
        String port = Integer.toString(FreePorts.take());
        String messages = Integer.toString(MESSAGES);
        String large = Integer.toString(LARGE);
        try (MemoryDirectory directory = MemoryDirectory.make("artemis");
                JavaProcess broker = start(brokerHasIt, "broker", port, directory.path().toString())) {
            broker.awaitLine("serving");
            try (JavaProcess producer = start(producerHasIt, "produce", port, messages, large)) {
                List<Long> sent = rates(producer, "sent ");
                LaneReport produced = LaneReport.of(producer.awaitEnd());
                try (JavaProcess consumer = start(consumerHasIt, "consume", port, messages, large)) {
                    List<Long> received = rates(consumer, "received ");
                    String digest = consumer.awaitLine("digest ");
                    LaneReport consumed = LaneReport.of(consumer.awaitEnd());
                    broker.tell("");
                    return new Run(sent, received, digest, LaneReport.of(broker.awaitEnd()), produced, consumed);
                }
            }
        }
    }

    private static List<Long> rates(JavaProcess client, String what) throws Exception {
        List<Long> rates = new ArrayList<>();
        for (String queue : QUEUES) {
            rates.add(Long.parseLong(client.awaitLine(what + queue + ' ')));
        }
        return rates;
    }

    @Test
    void brokerAndClients() throws Exception {
        Run without = run(false, false, false);
        Run with = run(true, true, true);
        for (int queue = 0; queue < QUEUES.size(); queue++) {
            print(QUEUES.get(queue) + ", sent", UNITS.get(queue), without.sent.get(queue), with.sent.get(queue));
            print(QUEUES.get(queue) + ", received", UNITS.get(queue), without.received.get(queue), with.received.get(queue));
        }
        assertEquals(without.digest, with.digest);
        with.producer.requireMemory("client");
        with.consumer.requireMemory("client");
        with.broker.requireMemory("server");
        assertTrue(with.broker.bytes(true) > 2L * LARGE, with.broker.output());
        Run mixed = run(true, false, true);
        assertEquals(without.digest, mixed.digest);
        assertTrue(mixed.producer.rows().isEmpty(), mixed.producer.output());
        mixed.consumer.requireMemory("client");
        assertTrue(mixed.broker.bytes(true) > LARGE && mixed.broker.bytes(false) > LARGE, mixed.broker.output());
    }

    private static void print(String what, String unit, long without, long with) {
        System.out.printf("Artemis, %s: %,d %s without the agent, %,d with it (%.2f)%n", what, without, unit, with,
                (double) with / without);
    }
}
