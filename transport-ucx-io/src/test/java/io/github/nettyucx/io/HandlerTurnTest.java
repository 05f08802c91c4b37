// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.io;

import io.github.nettyucx.channel.UcxWaitStrategy;
import io.netty.channel.IoHandlerContext;
import io.netty.util.concurrent.ThreadAwareExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The handler's side of its contract with a loop, whose part this test plays: when it blocks, and what it reports. */
@Timeout(30)
class HandlerTurnTest {

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Context context = new Context();
    private final UcxIoHandler handler = UcxIoHandler.newFactory(UcxWaitStrategy.PARK).newHandler(new OwnThread());

    @AfterEach
    void destroy() {
        handler.prepareToDestroy();
        handler.destroy();
    }

    private static final class OwnThread implements ThreadAwareExecutor {

        private final Thread thread = Thread.currentThread();

        @Override
        public boolean isExecutorThread(Thread other) {
            return other == thread;
        }

        @Override
        public void execute(Runnable task) {
            task.run();
        }
    }

    private static final class Context implements IoHandlerContext {

        private boolean hasTasks;
        private boolean wantsReports;
        private long deadlineNanos = -1;
        private long reportedNanos = -1;
        private Runnable whenAsked = () -> { };
        private int asked;

        /** Asked twice in a turn that blocks: when it has found nothing to do, and right before it sleeps. */
        @Override
        public boolean canBlock() {
            asked++;
            whenAsked.run();
            return !hasTasks;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return deadlineNanos - currentTimeNanos;
        }

        @Override
        public long deadlineNanos() {
            return deadlineNanos;
        }

        @Override
        public boolean shouldReportActiveIoTime() {
            return wantsReports;
        }

        @Override
        public void reportActiveIoTime(long activeNanos) {
            reportedNanos = activeNanos;
        }
    }

    /** @return how long it took, in nanoseconds */
    private long turn(int expectedWork) {
        long start = System.nanoTime();
        assertEquals(expectedWork, handler.run(context));
        return System.nanoTime() - start;
    }

    @Test
    void itBlocksUntilTheNextTimerIsDue() {
        context.deadlineNanos = System.nanoTime() + PAUSE_NANOS;
        while (context.deadlineNanos - System.nanoTime() > 0) {
            turn(0);
        }
        // From here on, as the turn may begin late, and then has less time to sleep.
        long start = System.nanoTime();
        context.deadlineNanos = start + TimeUnit.SECONDS.toNanos(1);
        turn(0);
        assertTrue(System.nanoTime() - start >= PAUSE_NANOS, "did not block");
    }

    @Test
    void itDoesNotBlockWhileThereAreTasks() {
        context.hasTasks = true;
        turn(0);
        // Nothing would ever end the wait.
        turn(0);
    }

    @Test
    void itIsWokenUp() throws InterruptedException {
        Thread waking = Thread.ofPlatform().start(() -> {
            LockSupport.parkNanos(PAUSE_NANOS);
            // Until it has: a handler that does not sleep yet is not woken.
            while (!Thread.interrupted()) {
                handler.wakeup();
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        });
        turn(0);
        waking.interrupt();
        waking.join();
    }

    /** Netty wakes the handler for each task, whoever adds it. */
    @Test
    void itsOwnThreadDoesNotKeepItFromSleeping() {
        context.whenAsked = handler::wakeup;
        // From here on, as the turn may begin late, and then has less time to sleep.
        long start = System.nanoTime();
        context.deadlineNanos = start + PAUSE_NANOS;
        turn(0);
        assertTrue(System.nanoTime() - start >= PAUSE_NANOS / 2, "has not slept");
    }

    @Test
    void itReportsTheTimeOfWorkAndNotThatOfWaiting() throws Exception {
        turnThatWorks();
        assertEquals(-1, context.reportedNanos, "a report that nobody asked for");
        context.wantsReports = true;
        turnThatWorks();
        assertTrue(context.reportedNanos >= PAUSE_NANOS, () -> "reported: " + context.reportedNanos);
        context.reportedNanos = -1;
        context.deadlineNanos = System.nanoTime() + PAUSE_NANOS;
        turn(0);
        assertEquals(-1, context.reportedNanos, "waiting is not work");
    }

    /** It reads the clock if there is a timer, which takes longer than such a turn. */
    @Test
    void aTurnThatSpinsSeldomAsksWhetherATimerIsDue() {
        UcxIoHandler spinning = UcxIoHandler.newFactory(UcxWaitStrategy.BUSY_SPIN).newHandler(new OwnThread());
        try {
            context.deadlineNanos = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
            for (int i = 0; i < 64; i++) {
                spinning.run(context);
            }
            assertEquals(64 / 8, context.asked);
            // Of a task it learns at once.
            context.hasTasks = true;
            spinning.wakeup();
            spinning.run(context);
            // Whether the loop has left some, and whether there are some when the turn ends.
            assertEquals(64 / 8 + 2, context.asked);
            assertTrue(spinning.driver().isPending());
        } finally {
            spinning.prepareToDestroy();
            spinning.destroy();
        }
    }

    private void turnThatWorks() throws Exception {
        handler.driver().engine().schedule(() -> {
            long end = System.nanoTime() + PAUSE_NANOS;
            while (System.nanoTime() - end < 0) {
                Thread.onSpinWait();
            }
        });
        turn(1);
    }
}
