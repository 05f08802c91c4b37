// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.channel.OnEachLane;
import org.junit.jupiter.api.Tag;

import java.util.SplittableRandom;

/**
 * The process at the other end is killed. This side learns of it within a second, with an error that says so, and goes
 * on serving everybody else.
 */
@Tag("faults")
@Tag("in-every-build")
class KilledProcessTest {

    /** Of each kill point, on each lane, with the killed process as server and as client; shortly as one of the two. */
    private static final int ROUNDS = Faults.times(1, 7);

    @OnEachLane(timeoutSeconds = 1800)
    void aKilledPeerIsNoticedAndNobodyElsesBusiness() throws Exception {
        long seed = Faults.newSeed();
        SplittableRandom random = new SplittableRandom(seed);
        try (Survivor survivor = new Survivor()) {
            for (int round = 0; round < ROUNDS; round++) {
                for (KillPoint point : KillPoint.values()) {
                    boolean connects = random.nextBoolean();
                    survivor.kill(point, connects, random.split());
                    if (Faults.FULL) {
                        survivor.kill(point, !connects, random.split());
                    }
                }
            }
            survivor.finish("killed", seed);
        } catch (Throwable t) {
            throw Faults.failure("killed process", seed, t);
        }
    }
}
