// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.OnEachLane;
import org.junit.jupiter.api.Tag;

import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * The process at the other end is killed. This side learns of it within 100 ms, with an error that says so, and goes
 * on serving everybody else.
 */
@Tag("faults")
class KilledProcessTest {

    /** Of each kill point, on each lane, with the killed process as server and as client; shortly as one of the two. */
    private static final int ROUNDS = Faults.times(1, 7);
    private static final Set<KillPoint> MEMORY_IN_USE = EnumSet.of(KillPoint.EAGER, KillPoint.RENDEZVOUS_OF_THE_KILLED,
            KillPoint.RENDEZVOUS_TO_THE_KILLED);
    /** With such settings: so many that about half of all kills are in the middle of a rendezvous. */
    private static final int SETTINGS_ROUNDS = Faults.times(1, 30);

    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 1800)
    void aKilledPeerIsNoticedAndNobodyElsesBusiness() throws Exception {
        kill("killed", EnumSet.allOf(KillPoint.class), ROUNDS);
    }

    /**
     * Its registration cache, which memory events make possible, would have the survivor crash: whoever exports that it
     * is to be on does not get it, least of all where nearly every message is a rendezvous.
     */
    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 1800, linksOnly = true, environment = {"UCX_MEM_EVENTS=y", "UCX_RNDV_THRESH=1000"})
    void whateverIsExportedForTheMemoryOfMessages() throws Exception {
        assertEquals("y 1000", System.getenv("UCX_MEM_EVENTS") + ' ' + System.getenv("UCX_RNDV_THRESH"));
        kill("killed, memory events and an early rendezvous exported", MEMORY_IN_USE, SETTINGS_ROUNDS);
    }

    @OnEachLane(timeoutSeconds = 1800, linksOnly = true, environment = "UCX_MEM_EVENTS=y")
    void whoeverExportsMemoryEvents() throws Exception {
        assertEquals("y", System.getenv("UCX_MEM_EVENTS"));
        kill("killed, memory events exported", MEMORY_IN_USE, SETTINGS_ROUNDS);
    }

    @OnEachLane(timeoutSeconds = 1800, linksOnly = true, environment = "UCX_RNDV_THRESH=1000")
    void whoeverExportsAnEarlyRendezvous() throws Exception {
        assertEquals("1000", System.getenv("UCX_RNDV_THRESH"));
        kill("killed, an early rendezvous exported", EnumSet.allOf(KillPoint.class), ROUNDS);
    }

    private static void kill(String what, Set<KillPoint> points, int rounds) {
        long seed = Faults.newSeed();
        SplittableRandom random = new SplittableRandom(seed);
        try (Survivor survivor = new Survivor()) {
            for (int round = 0; round < rounds; round++) {
                for (KillPoint point : points) {
                    boolean connects = random.nextBoolean();
                    survivor.kill(point, connects, random.split());
                    if (Faults.FULL) {
                        survivor.kill(point, !connects, random.split());
                    }
                }
            }
            survivor.finish(what, seed);
        } catch (Throwable t) {
            throw Faults.failure(what, seed, t);
        }
    }
}
