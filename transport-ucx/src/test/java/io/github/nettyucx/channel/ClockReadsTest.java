// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.netty.util.concurrent.RejectedExecutionHandlers;
import io.netty.util.concurrent.ThreadPerTaskExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** A loop that spins does not read the clock in each turn because of a timer: that takes longer than the turn. */
@Timeout(60)
class ClockReadsTest {

    private static final int TURNS = 100_000;
    /** Of the tasks by which the test looks. */
    private static final int OWN = 100;

    private static final class CountingLoop extends UcxEventLoop {

        private long reads;

        CountingLoop() {
            super(null, new ThreadPerTaskExecutor(Thread.ofPlatform().name("clock-reads").factory()),
                    UcxWaitStrategy.BUSY_SPIN, RejectedExecutionHandlers.reject(), null, null);
        }

        @Override
        protected long getCurrentTimeNanos() {
            if (inEventLoop()) {
                reads++;
            }
            return super.getCurrentTimeNanos();
        }
    }

    /** @param reads of the clock, after so many turns */
    private record Seen(int turn, long reads) {
    }

    @Test
    void mostIdleTurnsReadNoClock() throws Exception {
        CountingLoop loop = new CountingLoop();
        try {
            loop.schedule(() -> { }, 1, TimeUnit.HOURS);
            Seen first = look(loop);
            Seen last = first;
            int looks = 0;
            while (last.turn - first.turn < TURNS) {
                // The loop turns meanwhile.
                Thread.sleep(10);
                last = look(loop);
                looks++;
            }
            long turns = last.turn - first.turn;
            long reads = last.reads - first.reads;
            long bound = turns / 8 + (long) OWN * looks;
            assertTrue(reads <= bound, () -> reads + " reads of the clock in " + turns + " turns, " + bound + " expected");
        } finally {
            Peers.await(loop.shutdownGracefully(0, 10, TimeUnit.SECONDS));
        }
    }

    private static Seen look(CountingLoop loop) throws Exception {
        return loop.submit(() -> new Seen(loop.driver().engine().turn(), loop.reads)).get(15, TimeUnit.SECONDS);
    }
}
