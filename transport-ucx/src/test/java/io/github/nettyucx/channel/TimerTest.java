// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import com.sun.management.ThreadMXBean;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Idle loops: their timers are exact, they use no processor, and whoever wakes them is heard. */
class TimerTest {

    private static final int TIMERS = 11;
    private static final long DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(40);
    private static final long MEDIAN_LATENESS_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long WORST_LATENESS_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    @ParameterizedTest
    @EnumSource(UcxWaitStrategy.class)
    void timersOfALoopWithoutConnectionsFireInTime(UcxWaitStrategy strategy) throws Exception {
        try (Peers peers = new Peers(1, 1, strategy)) {
            assertTimersAreExact(peers.clientGroup.next());
        }
    }

    @ParameterizedTest
    @EnumSource(UcxWaitStrategy.class)
    void timersOfALoopWithAnIdleConnectionFireInTime(UcxWaitStrategy strategy) throws Exception {
        // The server's loop is not in question, and two spinning loops would take both cores of a small machine.
        try (Peers peers = new Peers(
                TestLoops.newGroup(1, UcxWaitStrategy.ADAPTIVE), TestLoops.newGroup(1, strategy))) {
            UcxSocketChannel client = peers.connect(
                    peers.listen(ChannelInboundHandlerAdapter::new), new ChannelInboundHandlerAdapter());
            assertTimersAreExact(client.eventLoop());
        }
    }

    private static void assertTimersAreExact(EventLoop loop) throws Exception {
        long[] lateness = new long[TIMERS];
        long[] controls = new long[TIMERS];
        // A loop that is nobody's transport, with the same timers: what it is late by, the machine is to blame for.
        EventLoop control = new DefaultEventLoop();
        try {
            for (int i = 0; i < TIMERS; i++) {
                long start = System.nanoTime();
                // One after the other: the loop is idle when it waits for the next one.
                Future<?> ours = schedule(loop, start, i, lateness);
                Peers.await(schedule(control, start, i, controls));
                Peers.await(ours);
            }
        } finally {
            control.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        }
        Arrays.sort(lateness);
        Arrays.sort(controls);
        String told = "late: " + Arrays.toString(lateness) + ", the control: " + Arrays.toString(controls);
        assertTrue(lateness[0] >= 0, () -> "a timer fired " + -lateness[0] + " ns before its time");
        assertTrue(lateness[TIMERS / 2] <= MEDIAN_LATENESS_NANOS + controls[TIMERS / 2], told);
        assertTrue(lateness[TIMERS - 1] <= WORST_LATENESS_NANOS + controls[TIMERS - 1], told);
    }

    private static Future<?> schedule(EventLoop loop, long start, int timer, long[] lateness) {
        return loop.schedule(() -> {
            lateness[timer] = System.nanoTime() - start - DELAY_NANOS;
        }, DELAY_NANOS, TimeUnit.NANOSECONDS);
    }

    @ParameterizedTest
    @EnumSource(UcxWaitStrategy.class)
    void anEarlierTimerFromAnotherThreadIsNotHeldUpByALaterOne(UcxWaitStrategy strategy) throws Exception {
        try (Peers peers = new Peers(1, 1, strategy)) {
            EventLoop loop = peers.clientGroup.next();
            Future<?> later = loop.schedule(() -> { }, 1, TimeUnit.HOURS);
            for (int i = 0; i < 10; i++) {
                // Peers.await gives up long before the later one.
                Peers.await(loop.schedule(() -> { }, DELAY_NANOS, TimeUnit.NANOSECONDS));
            }
            assertTrue(later.cancel(false));
        }
    }

    @ParameterizedTest
    @EnumSource(UcxWaitStrategy.class)
    void aTaskFromAnotherThreadIsNeverOverlooked(UcxWaitStrategy strategy) throws Exception {
        try (Peers peers = new Peers(1, 1, strategy)) {
            EventLoop loop = peers.clientGroup.next();
            // Each in another phase of the loop's way to sleep: a lost wake-up would wait for the next event for ever.
            for (int i = 0; i < 20_000; i++) {
                CountDownLatch done = new CountDownLatch(1);
                loop.execute(done::countDown);
                int round = i;
                assertTrue(done.await(5, TimeUnit.SECONDS), () -> "task " + round + " did not run");
                for (int turn = i % 1000; turn > 0; turn--) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = UcxWaitStrategy.class, names = "BUSY_SPIN", mode = EnumSource.Mode.EXCLUDE)
    void anIdleLoopUsesNoProcessor(UcxWaitStrategy strategy) throws Exception {
        try (Peers peers = new Peers(1, 1, strategy)) {
            assertIdle(peers.clientGroup.next());
        }
    }

    @ParameterizedTest
    @EnumSource(value = UcxWaitStrategy.class, names = "BUSY_SPIN", mode = EnumSource.Mode.EXCLUDE)
    void aLoopWithIdleConnectionsUsesNoProcessor(UcxWaitStrategy strategy) throws Exception {
        try (Peers peers = new Peers(1, 1, strategy)) {
            UcxServerSocketChannel server = peers.listen(ChannelInboundHandlerAdapter::new);
            for (int i = 0; i < 100; i++) {
                peers.connect(server, new ChannelInboundHandlerAdapter());
            }
            assertIdle(peers.clientGroup.next());
            assertIdle(peers.serverGroup.next());
        }
    }

    /** Under 1 % of a core, over a time that is long enough for anything periodic to be noticed. */
    private static void assertIdle(EventLoop loop) throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = loop.submit(() -> Thread.currentThread().threadId()).get();
        // The loop itself tells when the time is over, so that what this takes is what a loop with a timer takes.
        long[] used = new long[2];
        Peers.await(loop.schedule(() -> used[0] = threads.getThreadCpuTime(thread), 1, TimeUnit.SECONDS));
        Peers.await(loop.schedule(() -> used[1] = threads.getThreadCpuTime(thread), 4, TimeUnit.SECONDS));
        double share = (used[1] - used[0]) / (double) TimeUnit.SECONDS.toNanos(4);
        assertTrue(share < 0.01, () -> "the idle loop uses " + share * 100 + " % of a core");
    }

    @Test
    void aBusySpinningLoopEndsWhenItIsToldTo() {
        new Peers(1, 1, UcxWaitStrategy.BUSY_SPIN).close();
    }
}
