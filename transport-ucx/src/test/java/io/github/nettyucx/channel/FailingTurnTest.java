// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.worker.EnginePort;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A turn of a loop fails before it comes to the tasks: they run all the same. */
class FailingTurnTest implements EnginePort, TaskView {

    private boolean failing;

    @Override
    public int poll() {
        if (failing) {
            throw new IllegalStateException("a turn that fails, as the test wants it");
        }
        return 1;
    }

    @Override
    public boolean arm() {
        throw new AssertionError("no turn was idle");
    }

    @Override
    public void await(long timeoutNanos) {
        throw new AssertionError("no turn was idle");
    }

    @Override
    public void wakeup() {
        throw new AssertionError("the loop does not sleep");
    }

    @Override
    public boolean isPending(boolean tasksOnly) {
        return false;
    }

    @Override
    public long deadlineNanos() {
        return -1;
    }

    @Override
    public long delayNanos() {
        throw new AssertionError("there is no timer");
    }

    @Test
    void theTasksOfATurnThatFailsAreLookedAt() {
        IoDriver driver = new IoDriver(UcxWaitStrategy.PARK, this);
        assertEquals(1, driver.run(this));
        assertFalse(driver.isPending());
        failing = true;
        assertEquals(0, driver.run(this));
        assertTrue(driver.isPending(), "the loop would not run its tasks");
        failing = false;
        assertEquals(1, driver.run(this));
        assertFalse(driver.isPending(), "the loop has looked again");
    }
}
