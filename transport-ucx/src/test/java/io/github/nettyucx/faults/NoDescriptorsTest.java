// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.OnEachLane;
import org.junit.jupiter.api.Tag;

import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A process runs into its limit of file descriptors: connections fail with an error, those that exist go on. */
@Tag("faults")
class NoDescriptorsTest {

    /**
     * The JVM takes some 100 before there is a connection. A connection over shared memory takes three, one over tcp two:
     * so the last descriptor is another one's of what a connection takes, with each limit.
     */
    private static final int FIRST_LIMIT = 200;
    private static final int LAST_LIMIT = 202;
    private static final int MANY = 200;

    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 240)
    void aServerWithoutDescriptorsGoesOn() throws Exception {
        for (int limit = FIRST_LIMIT; limit <= LAST_LIMIT; limit++) {
            try (Child server = Child.start(limitedTo(limit), List.of(), EchoMain.class);
                 Child client = Child.start(ConnectingMain.class, server.awaitPort())) {
                exhaustAndRecover("server", limit, client, "Connection rejected by the peer's transport");
            }
        }
    }

    @OnEachLane(timeoutSeconds = 240)
    void aClientWithoutDescriptorsGoesOn() throws Exception {
        for (int limit = FIRST_LIMIT; limit <= LAST_LIMIT; limit++) {
            try (Child server = Child.start(EchoMain.class);
                 Child client = Child.start(limitedTo(limit), List.of(), ConnectingMain.class, server.awaitPort())) {
                exhaustAndRecover("client", limit, client, "too many open files");
            }
        }
    }

    private static List<String> limitedTo(int limit) {
        return List.of("prlimit", "--nofile=" + limit + ':' + limit);
    }

    private static void exhaustAndRecover(String limited, int limit, Child client, String expected) throws Exception {
        client.await("started");
        client.tell("connect " + MANY);
        String exhausted = client.await("result");
        assertTrue(exhausted.contains(expected), exhausted);
        client.tell("beats");
        assertEquals("all", client.await("beats"), "the connections that exist");
        client.tell("close");
        client.await("closed");
        // The other side has closed its ends when it has noticed.
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        String again;
        do {
            assertTrue(System.nanoTime() - deadline < 0, "no new connections");
            client.tell("connect 5");
            again = client.await("result");
        } while (!again.endsWith("none"));
        client.tell("beats");
        assertEquals("all", client.await("beats"), "the new connections");
        Faults.report("no descriptors: lane %s: the %s, limited to %d, had %s; these went on; afterwards new ones worked",
                Lane.current(), limited, limit, exhausted);
    }
}
