// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.worker.EnginePort;

import java.util.PriorityQueue;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * An {@link IoDriver} over a clock, tasks, timers and a UCX that are not real. Whenever the driver asks any of them,
 * other threads submit tasks and timers as Netty does, and messages arrive, as the seed has it. A sleep in which
 * something waits that nobody will wake the loop for is the failure that is looked for.
 */
final class SeededWait implements EnginePort, TaskView {

    private static final int TURNS = 60;
    /** A loop that spins, which it does by the real clock, turns often. */
    private static final int LAST_TURNS = 1_000_000;
    private static final long NONE = Long.MAX_VALUE;
    private static final long SLEEP_OF_THE_BUSY_NANOS = 1_000_000;

    private final SplittableRandom random;
    private final boolean tracing;
    private final IoDriver driver;
    private final int hurriedPercent;

    private long now = 1_000;
    /** Submitted and not run. */
    private int tasks;
    /** Of timers that another thread has submitted without waking the loop, because that wakes in time anyway. */
    private final PriorityQueue<Long> lazyTimers = new PriorityQueue<>();
    private final PriorityQueue<Long> timers = new PriorityQueue<>();
    /** Messages that have arrived and have not been taken. */
    private int messages;
    /** UCX does not let the loop sleep, although progress finds nothing to do. */
    private boolean stuck;
    private boolean armed;
    /** Nobody does anything but the loop. */
    private boolean quiet;
    /** The descriptor of the armed worker, and the one that threads wake the loop by. */
    private boolean eventRaised;
    private boolean signalled;
    private int submitted;
    private int ran;
    private int arrived;
    private int taken;
    private int sleeps;

    SeededWait(long seed, boolean tracing) {
        // Neighbouring seeds shall not have similar runs.
        random = new SplittableRandom(seed * 0x9e3779b97f4a7c15L);
        this.tracing = tracing;
        UcxWaitStrategy[] strategies = {UcxWaitStrategy.PARK, UcxWaitStrategy.PARK, UcxWaitStrategy.ADAPTIVE};
        driver = new IoDriver(strategies[random.nextInt(strategies.length)], this);
        int[] percents = {2, 10, 30, 60};
        hurriedPercent = percents[random.nextInt(percents.length)];
    }

    int sleeps() {
        return sleeps;
    }

    void run() {
        for (int turn = 0; turn < TURNS; turn++) {
            driver.run(this);
            runTasks();
        }
        // Nobody does anything any more: what was submitted has to be done without another wake-up.
        quiet = true;
        for (int turn = 0; turn < LAST_TURNS && (messages > 0 || tasks > 0 || !timers.isEmpty()); turn++) {
            driver.run(this);
            runTasks();
        }
        assertEquals(submitted, ran, "tasks and timers");
        assertEquals(arrived, taken, "messages");
    }

    private void runTasks() {
        meanwhile();
        ran += tasks - lazyTimers.size();
        tasks = 0;
        timers.addAll(lazyTimers);
        lazyTimers.clear();
        while (!timers.isEmpty() && timers.peek() <= now) {
            trace("runs the timer of " + timers.poll());
            ran++;
        }
        now += random.nextInt(50);
    }

    // ------------------------------------------------------------------------------------------- the others

    /** What other threads and peers do between two steps of the loop. */
    private void meanwhile() {
        while (!quiet && random.nextInt(100) < hurriedPercent) {
            act();
        }
    }

    private void act() {
        switch (random.nextInt(5)) {
            case 0 -> submit();
            case 1, 2 -> schedule(now + random.nextInt(5_000));
            default -> arrive();
        }
    }

    private void submit() {
        tasks++;
        submitted++;
        trace("a task is submitted");
        driver.wakeup();
    }

    /** As {@code AbstractScheduledEventExecutor.schedule} does from a thread that is not the loop's. */
    private void schedule(long deadline) {
        trace("a timer of " + deadline + " is submitted");
        submitted++;
        tasks++;
        lazyTimers.add(deadline);
        if (!driver.wakesBefore(deadline) || !driver.wakesBefore(deadline)) {
            driver.wakeup();
        }
    }

    private void arrive() {
        trace("a message arrives");
        messages++;
        arrived++;
        eventRaised |= armed;
    }

    // ------------------------------------------------------------------------------------------- UCX

    @Override
    public int poll() {
        meanwhile();
        int work = messages == 0 ? 0 : 1 + random.nextInt(messages);
        messages -= work;
        taken += work;
        // Of the worker: its descriptor is not looked at again before it is armed again.
        armed = false;
        eventRaised = false;
        stuck = !quiet && (random.nextInt(100) < 5 || stuck && random.nextInt(100) < 70);
        trace("polls, " + work + " messages" + (stuck ? ", stuck" : ""));
        return work;
    }

    @Override
    public boolean arm() {
        meanwhile();
        armed = messages == 0 && !stuck;
        eventRaised = false;
        trace(armed ? "arms" : "is told that UCX is busy");
        boolean answer = armed;
        meanwhile();
        return answer;
    }

    @Override
    public void await(long timeoutNanos) {
        meanwhile();
        sleeps++;
        trace("sleeps for " + timeoutNanos);
        assertTrue(timeoutNanos >= 0 || armed, "sleeps without a limit although UCX has not agreed");
        assertTrue(armed || timeoutNanos <= SLEEP_OF_THE_BUSY_NANOS, "sleeps long although UCX is busy");
        long end = timeoutNanos < 0 ? NONE : now + timeoutNanos;
        while (!signalled && !eventRaised && now < end) {
            assertNothingIsForgotten(end);
            if (end != NONE && (quiet || random.nextBoolean())) {
                now = end;
            } else {
                now += Math.min(random.nextInt(1_000), end - now);
                act();
            }
        }
        // Latched by the eventfd, once for any number of writes.
        signalled = false;
        trace("wakes");
    }

    private void assertNothingIsForgotten(long end) {
        assertFalse(armed && messages > 0, "sleeps while a message waits");
        assertEquals(lazyTimers.size(), tasks, "sleeps while a task waits");
        long due = Math.min(timers.isEmpty() ? NONE : timers.peek(), lazyTimers.isEmpty() ? NONE : lazyTimers.peek());
        assertTrue(end <= due, () -> "sleeps until " + end + ", beyond the timer of " + due);
    }

    @Override
    public void wakeup() {
        signalled = true;
        trace("is signalled");
    }

    // ------------------------------------------------------------------------------------------- Netty

    @Override
    public boolean isPending(boolean tasksOnly) {
        meanwhile();
        boolean pending = tasks > 0 || !timers.isEmpty() && timers.peek() <= now;
        meanwhile();
        return pending;
    }

    @Override
    public long deadlineNanos() {
        return timers.isEmpty() ? -1 : timers.peek();
    }

    @Override
    public long delayNanos() {
        return timers.peek() - now;
    }

    private void trace(String event) {
        if (tracing) {
            System.out.println(now + ": " + event);
        }
    }
}
