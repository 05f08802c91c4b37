// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.worker.EnginePort;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A loop whose UCX finds nothing to do and does not let it sleep either, as while a stopped peer makes no room in shared
 * memory: it takes no whole processor, and is not late for its timers.
 */
class BusyUcxTest {

    private static final long MICROSECOND = 1_000;
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(20);

    /** Never lets the loop sleep; takes note of how long it wants to rest. */
    private static final class BusyUcx implements EnginePort {

        private final List<Long> rests = new ArrayList<>();
        private long refusals;
        private int work;

        @Override
        public int poll() {
            return work;
        }

        @Override
        public boolean arm() {
            refusals++;
            return false;
        }

        @Override
        public void await(long timeoutNanos) {
            rests.add(timeoutNanos);
        }

        @Override
        public void wakeup() {
            throw new AssertionError("nobody wakes the loop");
        }
    }

    /** One timer, or none, and no tasks. */
    private record Timer(long delayNanos) implements TaskView {

        private static final Timer NONE = new Timer(-1);

        @Override
        public boolean isPending(boolean tasksOnly) {
            return false;
        }

        @Override
        public long deadlineNanos() {
            return delayNanos < 0 ? -1 : System.nanoTime() + delayNanos;
        }
    }

    private final BusyUcx ucx = new BusyUcx();
    private final IoDriver driver = new IoDriver(UcxWaitStrategy.PARK, ucx);

    private void turnUntilRests(int count, TaskView tasks) {
        long start = System.nanoTime();
        while (ucx.rests.size() < count) {
            driver.run(tasks);
            assertTrue(System.nanoTime() - start < LIMIT_NANOS,
                    "rests " + ucx.rests + " after " + ucx.refusals + " refusals");
        }
    }

    @Test
    void restsForLongerAndLonger() {
        turnUntilRests(7, Timer.NONE);
        assertEquals(List.of(50 * MICROSECOND, 100 * MICROSECOND, 200 * MICROSECOND, 400 * MICROSECOND,
                800 * MICROSECOND, 1000 * MICROSECOND, 1000 * MICROSECOND), ucx.rests);
        assertTrue(ucx.refusals > 7, "it rests at once");
    }

    @Test
    void restsNotBeyondTheNextTimer() {
        turnUntilRests(3, new Timer(7 * MICROSECOND));
        assertEquals(List.of(7 * MICROSECOND, 7 * MICROSECOND, 7 * MICROSECOND), ucx.rests);
    }

    @Test
    void beginsAnewAfterAMessage() {
        turnUntilRests(4, Timer.NONE);
        ucx.rests.clear();
        ucx.work = 1;
        driver.run(Timer.NONE);
        ucx.work = 0;
        long refusals = ucx.refusals;
        turnUntilRests(1, Timer.NONE);
        assertEquals(List.of(50 * MICROSECOND), ucx.rests);
        assertTrue(ucx.refusals > refusals + 1, "it rests at once");
    }
}
