// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.worker.EnginePort;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * In the sleep of a loop a message has come and a timer has become due, as when the process was stopped: the message is
 * taken before the loop's owner, who runs the timers when {@link IoDriver#run} returns, has its turn.
 */
class SleepOrderTest implements EnginePort, TaskView {

    private final List<String> events = new ArrayList<>();
    private boolean slept;
    private boolean taken;
    /** What a poll leaves to the sleep that follows. */
    private int left;

    @Override
    public void sleepsNext() {
        events.add("leaves");
        left = 1;
    }

    @Override
    public int makeUp() {
        int work = left;
        left = 0;
        events.add("makes up");
        return work;
    }

    @Override
    public int poll() {
        if (!slept || taken) {
            return 0;
        }
        taken = true;
        events.add("message");
        return 1;
    }

    @Override
    public boolean arm() {
        return true;
    }

    @Override
    public void await(long timeoutNanos) {
        events.add("sleep");
        slept = true;
    }

    @Override
    public void wakeup() {
        // Nobody does.
    }

    @Override
    public boolean isPending(boolean tasksOnly) {
        return slept;
    }

    @Override
    public long deadlineNanos() {
        return 1;
    }

    @Override
    public long delayNanos() {
        return slept ? 0 : 1;
    }

    @Test
    void whatCameInASleepIsTakenBeforeTimersThatAreDue() {
        IoDriver driver = new IoDriver(UcxWaitStrategy.PARK, this);
        long called = System.nanoTime();
        int work = driver.run(this);
        if (driver.isPending()) {
            events.add("timers");
        }
        assertEquals(List.of("sleep", "message", "timers"), events);
        assertEquals(1, work);
        assertTrue(driver.workingSince(called) - called > 0, "the sleep counts as work");
    }

    @Test
    void whatWasLeftToASleepThatDoesNotComeIsTakenBeforeTimersThatAreDue() {
        IoDriver driver = new IoDriver(UcxWaitStrategy.PARK, this);
        driver.run(this);
        events.clear();
        // A timer is due, and so it does not sleep.
        assertEquals(1, driver.run(this));
        assertEquals(List.of("leaves", "makes up"), events);
        events.clear();
        assertEquals(0, driver.run(this));
        assertEquals(List.of(), events, "it has not slept before this turn");
    }

    /** The timer is not yet due when the loop looks for messages, and is when it is about to sleep. */
    @Test
    void norByTimersThatBecomeDueAtTheLastMoment() {
        IoDriver driver = new IoDriver(UcxWaitStrategy.PARK, this);
        driver.run(this);
        events.clear();
        int[] looks = {0};
        assertEquals(1, driver.run(new TaskView() {

            @Override
            public boolean isPending(boolean tasksOnly) {
                return ++looks[0] == 2;
            }

            @Override
            public long deadlineNanos() {
                return 1;
            }

            @Override
            public long delayNanos() {
                return 0;
            }
        }));
        assertEquals(List.of("leaves", "makes up"), events);
    }

    /** It may have the only processor on which the thread that it has just woken can run. */
    @Test
    void aLoopThatIsToldToRestSleepsBeforeItLooksForWork() {
        new IoDriver(UcxWaitStrategy.ADAPTIVE, this).run(this);
        assertEquals(List.of(), events);
        IoDriver driver = new IoDriver(UcxWaitStrategy.ADAPTIVE, this);
        driver.rest();
        driver.run(this);
        assertEquals(List.of("sleep", "message"), events);
    }
}
