// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.worker.EnginePort;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** How many turns a loop makes between its tasks. */
class IoShareTest implements EnginePort, TaskView {

    private static final long TASK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final IoDriver driver = new IoDriver(UcxWaitStrategy.ADAPTIVE, this);
    private boolean remain;
    private int arriving = Integer.MAX_VALUE;
    private int polls;
    private boolean takes;
    private Runnable last;

    @Override
    public int poll() {
        polls++;
        return arriving > 0 ? Math.min(1, arriving--) : 0;
    }

    @Override
    public boolean arm() {
        return true;
    }

    @Override
    public void await(long timeoutNanos) {
        throw new AssertionError("the loop sleeps although it has tasks");
    }

    @Override
    public void wakeup() {
        // Nobody sleeps.
    }

    @Override
    public boolean remain() {
        return remain;
    }

    @Override
    public boolean addLast(Runnable task) {
        assertNull(last, "two at a time");
        last = takes ? task : null;
        return takes;
    }

    @Override
    public boolean isPending(boolean tasksOnly) {
        return true;
    }

    @Override
    public long deadlineNanos() {
        return -1;
    }

    @Override
    public long delayNanos() {
        throw new AssertionError("there is no timer");
    }

    private static void task() throws Exception {
        // What a task takes, and not a wait for anything.
        TimeUnit.NANOSECONDS.sleep(TASK_NANOS);
    }

    /** Nearly all: the machine can stop this thread between two turns, as a task would. */
    @Test
    void shortTasksThatAreRunAtOnceAreFollowedByOneTurn() {
        int single = 0;
        for (int i = 0; i < 1000; i++) {
            single += driver.run(this) == 1 ? 1 : 0;
        }
        assertTrue(single > 900, single + " of 1000");
    }

    @Test
    void itTakesAsMuchTimeAsLongTasksOfWhichNoneRemains() throws Exception {
        long start = 0;
        int work = 1;
        for (int i = 0; work == 1; i++) {
            assertTrue(i < 10, "one turn after each");
            task();
            start = System.nanoTime();
            work = driver.run(this);
        }
        assertTrue(System.nanoTime() - start >= TASK_NANOS, "the turns end before they have taken as much as the task");
    }

    @Test
    void inputAndOutputTakesAsMuchTimeAsTasksThatNeverEnd() throws Exception {
        remain = true;
        assertEquals(1, driver.run(this), "turns before it is known what the tasks take");
        task();
        long start = System.nanoTime();
        int work = driver.run(this);
        assertTrue(System.nanoTime() - start >= TASK_NANOS, "the turns end before they have taken as much as the task");
        assertTrue(work > 1, "one turn");
        assertEquals(1 + work, polls);
    }

    /** The quickest of some: the machine can stop this thread. */
    @ParameterizedTest
    @CsvSource({"50, 50, 90", "200, 100, 180"})
    void andNotMoreThanThatNorThanItsMost(int taskMillis, int least, int most) throws Exception {
        remain = true;
        driver.run(this);
        long quickest = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            TimeUnit.MILLISECONDS.sleep(taskMillis);
            long start = System.nanoTime();
            driver.run(this);
            quickest = Math.min(quickest, System.nanoTime() - start);
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(quickest);
        assertTrue(millis >= least && millis < most, () -> millis + " ms");
    }

    @Test
    void whereThereIsNothingToDoTasksDoNotWait() throws Exception {
        remain = true;
        driver.run(this);
        arriving = 0;
        task();
        assertEquals(0, driver.run(this));
        assertEquals(2, polls);
    }

    /** The quickest of some: the machine can stop this thread. */
    @Test
    void whereSomethingHasComeMoreIsLookedForAMoment() throws Exception {
        remain = true;
        driver.run(this);
        long quickest = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            arriving = 5;
            int before = polls;
            task();
            long start = System.nanoTime();
            assertEquals(5, driver.run(this));
            quickest = Math.min(quickest, System.nanoTime() - start);
            assertTrue(polls - before > 5 + 1, "no look after the last that came");
        }
        assertTrue(quickest < TASK_NANOS, "the tasks wait although there is nothing to do");
    }

    private void runLast() {
        Runnable task = last;
        last = null;
        task.run();
    }

    @Test
    void itTakesTurnsAmongTasksAsLongAsThereAreOthers() throws Exception {
        takes = true;
        remain = true;
        driver.run(this);
        for (int i = 0; i < 3; i++) {
            int before = polls;
            task();
            runLast();
            assertTrue(polls > before, "no turn among the tasks");
        }
        int before = polls;
        remain = false;
        runLast();
        assertNull(last, "a task that is the only one keeps the loop from sleeping");
        assertEquals(before, polls);
    }

    @Test
    void shortTasksDoNotWaitForATurnEachTime() {
        takes = true;
        remain = true;
        arriving = 0;
        driver.run(this);
        long start = System.nanoTime();
        for (int i = 0; i < 100_000; i++) {
            runLast();
        }
        // At most one each 20 us.
        long most = 2 + TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start) / 20;
        assertTrue(polls <= most, () -> polls + " turns, and not " + most);
    }

    @Test
    void aLoopThatTakesNoTasksGoesOnWithoutThem() throws Exception {
        remain = true;
        for (int i = 1; i <= 3; i++) {
            driver.run(this);
            assertNull(last);
        }
    }
}
