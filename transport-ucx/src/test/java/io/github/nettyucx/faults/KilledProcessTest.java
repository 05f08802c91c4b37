// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.OnEachLane;
import org.junit.jupiter.api.Tag;

import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * The process at the other end is killed. This side learns of it within 100 ms, with an error that says so, and goes
 * on serving everybody else.
 * <p>
 * Where it was when it died is proven. Each process keeps its {@link Progress} in a mapped file, which outlives it. The
 * loop of the surviving side compares that with its own. It sends the signal itself when a handshake, a close or a
 * rendezvous is under way, or a message is on its way. A process that had got further when it died does not count, and
 * another one is killed.
 * <p>
 * Meanwhile the loop has to do with others ({@link Pulse}). In the middle of a rendezvous that is also a rendezvous with
 * a process that lives, whose memory UCX is using at the moment of the kill ({@link OtherRendezvous}).
 */
@Tag("faults")
class KilledProcessTest {

    /** Of each kill point, on each lane, with the killed process as server and as client; shortly one, as one of the two. */
    static final int ROUNDS = 7;
    /** With settings: so many that half of all kills are in the middle of a rendezvous. */
    static final int RENDEZVOUS_ROUNDS = 33;
    static final int EAGER_ROUNDS = 24;

    private static final Map<KillPoint, Integer> ALL = EnumSet.allOf(KillPoint.class).stream()
            .collect(Collectors.toMap(Function.identity(), _ -> ROUNDS));
    private static final Map<KillPoint, Integer> MEMORY_IN_USE = Map.of(KillPoint.EAGER, EAGER_ROUNDS,
            KillPoint.RENDEZVOUS_OF_THE_KILLED, RENDEZVOUS_ROUNDS, KillPoint.RENDEZVOUS_TO_THE_KILLED, RENDEZVOUS_ROUNDS);

    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 1800)
    void aKilledPeerIsNoticedAndNobodyElsesBusiness() throws Exception {
        kill("killed", ALL);
    }

    /**
     * Its registration cache, which memory events make possible, would have the survivor crash: whoever exports that it
     * is to be on does not get it, least of all where nearly every message is a rendezvous.
     */
    @Tag("in-every-build")
    @OnEachLane(timeoutSeconds = 1800, linksOnly = true, environment = {"UCX_MEM_EVENTS=y", "UCX_RNDV_THRESH=1000"})
    void whateverIsExportedForTheMemoryOfMessages() throws Exception {
        assertEquals("y 1000", System.getenv("UCX_MEM_EVENTS") + ' ' + System.getenv("UCX_RNDV_THRESH"));
        kill("killed, memory events and an early rendezvous exported", MEMORY_IN_USE);
    }

    @OnEachLane(timeoutSeconds = 1800, linksOnly = true, environment = "UCX_MEM_EVENTS=y")
    void whoeverExportsMemoryEvents() throws Exception {
        assertEquals("y", System.getenv("UCX_MEM_EVENTS"));
        kill("killed, memory events exported", MEMORY_IN_USE);
    }

    @OnEachLane(timeoutSeconds = 1800, linksOnly = true, environment = "UCX_RNDV_THRESH=1000")
    void whoeverExportsAnEarlyRendezvous() throws Exception {
        assertEquals("1000", System.getenv("UCX_RNDV_THRESH"));
        kill("killed, an early rendezvous exported", ALL);
    }

    /** @param points with the rounds of each in full */
    private static void kill(String what, Map<KillPoint, Integer> points) {
        long seed = Faults.newSeed();
        SplittableRandom random = new SplittableRandom(seed);
        try (Survivor survivor = new Survivor()) {
            Map<KillPoint, Integer> rounds = new EnumMap<>(points);
            rounds.replaceAll((_, full) -> Faults.times(1, full));
            for (int round = 0; round < Collections.max(rounds.values()); round++) {
                for (KillPoint point : pointsOf(rounds, round)) {
                    boolean connects = random.nextBoolean();
                    survivor.kill(point, connects, random.split());
                    if (Faults.FULL) {
                        survivor.kill(point, !connects, random.split());
                    }
                }
            }
            rounds.replaceAll((_, each) -> Faults.times(each, 2 * each));
            assertEquals(rounds, survivor.proven());
            survivor.finish(what, seed);
        } catch (Throwable t) {
            throw Faults.failure(what, seed, t);
        }
    }

    private static List<KillPoint> pointsOf(Map<KillPoint, Integer> rounds, int round) {
        return rounds.entrySet().stream().filter(entry -> entry.getValue() > round).map(Map.Entry::getKey).toList();
    }
}
