// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.CloseReason;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Connects, sends, closes, and fails to connect. */
public final class OneConnectionMain {

    static final String NO_FLIGHT_RECORDER = "all went well without a flight recorder";

    private OneConnectionMain() {
    }

    /** Runs it in a JVM of its own. @return what it has said */
    static String run(String... flags) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(LaneJvm.command(Lane.current(), List.of(flags), OneConnectionMain.class))
                .redirectErrorStream(true).start();
        String output;
        try (BufferedReader reader = process.inputReader()) {
            output = reader.lines().collect(Collectors.joining("\n"));
        }
        assertEquals(0, process.waitFor(), output);
        return output;
    }

    public static void main(String[] args) throws Exception {
        try (Peers peers = new Peers(1, 1, UcxWaitStrategy.PARK)) {
            Inbox inbox = new Inbox();
            Channel server = peers.listen(() -> inbox);
            UcxSocketChannel client = peers.connect(server, new Inbox());
            Peers.await(client.writeAndFlush(Unpooled.directBuffer().writeBytes(new byte[] {'a', 'b', 'c'})));
            inbox.awaitText("abc");
            Peers.await(client.close());
            Peers.await(server.close());
            Peers.awaitFailure(peers.client(new Inbox()).connect(server.localAddress()));
            // What was counted when they were asked for.
            Supplier<UcxMetrics> metrics = TestLoops.driver(client.eventLoop())::metrics;
            Eventually.await(10_000, () -> "the end of " + client,
                    () -> metrics.get().connectionsClosed(CloseReason.ORDERLY) == 1);
            assertEquals(1, metrics.get().handshakesFailed());
        }
        if (!FlightEvents.AVAILABLE) {
            System.out.println(NO_FLIGHT_RECORDER);
        }
    }
}
