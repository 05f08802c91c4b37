// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Tag;

import java.util.SplittableRandom;

/**
 * Bytes arrive as they were written, whatever the application does: in pieces of all sizes and kinds, from any thread,
 * in both directions at once, read fast, slowly and in interruptions. What happens follows from a seed, which a failure
 * tells; {@code -Dio.github.nettyucx.test.seed} repeats it, and {@code -Dio.github.nettyucx.test.scale} has more.
 */
@Tag("ucx-matrix")
class TransferTest {

    private static final Long SEED = Long.getLong("io.github.nettyucx.test.seed");
    private static final int SCALE = Integer.getInteger("io.github.nettyucx.test.scale", 1);


    @OnEachLane(timeoutSeconds = 600)
    void everyByteArrivesWhateverIsWrittenHowever() throws Exception {
        rounds(12, Transfer.Size.ANY);
    }

    @OnEachLane(timeoutSeconds = 600)
    void everyByteOfLargeStreamsArrives() throws Exception {
        rounds(1, Transfer.Size.LARGE);
    }

    @OnEachLane(timeoutSeconds = 600)
    void everyByteOfShortConnectionsArrives() throws Exception {
        rounds(16, Transfer.Size.SMALL);
    }

    private static void rounds(int number, Transfer.Size size) throws Exception {
        SplittableRandom seeds = new SplittableRandom();
        for (int i = 0; i < (SEED == null ? number * SCALE : 1); i++) {
            long seed = SEED == null ? seeds.nextLong() : SEED;
            try {
                new Transfer(new SplittableRandom(seed), size).run();
            } catch (Throwable t) {
                throw new AssertionError("failed with -Dio.github.nettyucx.test.seed=" + seed, t);
            }
        }
    }
}
