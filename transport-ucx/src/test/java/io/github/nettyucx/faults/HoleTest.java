// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.Lane;
import io.github.nettyucx.channel.OnEachLane;
import io.github.nettyucx.channel.OwnJvm;
import org.junit.jupiter.api.Tag;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertNotEquals;

/** A send that fails when it has taken a place in the peer's queue is the end of all links with that queue. */
@Tag("faults")
@Tag("in-every-build")
@OwnJvm
class HoleTest {

    private static final List<String> LIMITED = List.of("prlimit", "--nofile=400:400");
    /** Each piece of memory that is attached takes a descriptor for a moment. */
    private static final List<String> POSIX =
            List.of("-Dio.github.nettyucx.tls=posix", "-Dio.github.nettyucx.lanes=shm,socket");
    private static final long SECONDS = 90;

    @OnEachLane(lanes = Lane.SHM, timeoutSeconds = 240)
    void allConnectionsWithTheSameQueueEndAndNewOnesWork() throws Exception {
        try (Child server = Child.start(List.of(), POSIX, HoleMain.class);
             Child client = Child.start(LIMITED, POSIX, HoleMain.class, server.awaitPort())) {
            String failure = client.await("failed", SECONDS);
            assertNotEquals("null", failure, "there was nothing to attach");
            client.await("told", SECONDS);
            server.tell(HoleMain.READ);
            server.await("ended", SECONDS);
            client.tell(HoleMain.GO);
            Faults.report("hole: a send without a descriptor failed with '%s'; all connections of both loops with that peer"
                    + " ended on both sides; the next ones took %s", failure, client.await("again", SECONDS));
        }
    }
}
