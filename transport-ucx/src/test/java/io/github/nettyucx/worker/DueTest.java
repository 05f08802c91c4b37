// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.channel.OnEachLane;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A loop that always finds work does not sleep, and is not asked by that whether somebody waits to be told in time. */
class DueTest {

    private static final int TURNS = 64;
    private static final long TASK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private static final class Waiting implements IdleCollector {
        private boolean due;
        private int asked;

        @Override
        public void collect(long now) {
            asked++;
        }

        @Override
        public boolean hasIdle() {
            return false;
        }

        @Override
        public boolean hasDue() {
            return due;
        }
    }

    @OnEachLane(linksOnly = true)
    void whatIsDueIsLookedAtAlsoByABusyLoop() throws Exception {
        try (EnginePair pair = new EnginePair(1)) {
            // What was registered, or makes links, can become due only where there is a worker.
            pair.workerHere().pin();
            Waiting waiting = new Waiting();
            pair.here.addCollector(waiting);
            turn(pair);
            assertEquals(0, waiting.asked, "not in every turn");
            waiting.due = true;
            turn(pair);
            assertEquals(1, waiting.asked);
            pair.workerHere().unpin();
        }
    }

    /** Its turns are long. */
    @OnEachLane(linksOnly = true)
    void whatIsLookedAtEverySecondIsSoAlsoByABusyLoop() throws Exception {
        try (EnginePair pair = new EnginePair(1)) {
            Worker worker = pair.workerHere();
            worker.pin();
            int[] looks = {0};
            worker.everySecond(() -> ++looks[0] < 2);
            int turns = 0;
            for (; looks[0] < 2 && turns < 4096; turns++) {
                // A task.
                LockSupport.parkNanos(TASK_NANOS);
                turnOnce(pair);
            }
            assertTrue(turns <= 2 * (TimeUnit.SECONDS.toNanos(1) / TASK_NANOS + TURNS), turns + " turns");
            worker.unpin();
        }
    }

    private static void turn(EnginePair pair) {
        for (int i = 0; i < TURNS; i++) {
            turnOnce(pair);
        }
    }

    private static void turnOnce(EnginePair pair) {
        pair.here.schedule(() -> { });
        pair.here.poll();
    }
}
