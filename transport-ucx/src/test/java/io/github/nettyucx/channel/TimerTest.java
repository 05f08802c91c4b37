// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import com.sun.management.ThreadMXBean;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Idle loops: their timers are exact, they use no processor, and whoever wakes them is heard. */
class TimerTest {

    private static final int TIMERS = 11;
    private static final int ROUNDS = 5;
    private static final long DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(40);
    private static final long MEDIAN_LATENESS_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    /** Of all but one: the machine may stop one of its processors, which the kernel does not count. */
    private static final long WORST_LATENESS_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    /** After which a loop is idle, and its code compiled. */
    private static final long SETTLED_SECONDS = 1;
    private static final long MEASURED_SECONDS = 4;
    private static final double MOST_OF_PROCESSOR = 0.01;

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

    /** One of some rounds is exact: a host may take a processor away from one of the two loops that are compared. */
    private static void assertTimersAreExact(EventLoop loop) throws Exception {
        List<String> inexact = new ArrayList<>();
        while (inexact.size() < ROUNDS) {
            String told = timeTimers(loop);
            if (told == null) {
                return;
            }
            inexact.add(told);
        }
        throw new AssertionError("in no round timers were exact: " + inexact);
    }

    /** @return how late they were, if that was too much */
    private static String timeTimers(EventLoop loop) throws Exception {
        long[] lateness = new long[TIMERS];
        long[] controls = new long[TIMERS];
        // A loop that is nobody's transport, with the same timers: what it is late by, the machine is to blame for.
        EventLoop control = new DefaultEventLoop();
        try (Starvation starvation = new Starvation()) {
            starvation.add(loop);
            for (int i = 0; i < TIMERS; i++) {
                long starved = starvation.nanos();
                long start = System.nanoTime();
                // One after the other: the loop is idle when it waits for the next one.
                Future<?> ours = schedule(loop, start, i, lateness);
                Peers.await(schedule(control, start, i, controls));
                Peers.await(ours);
                // A loop that spins uses up its time on the processor, and others that wait for it have theirs.
                lateness[i] -= Math.min(Math.max(0, lateness[i]), starvation.nanos() - starved);
            }
        } finally {
            control.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        }
        Arrays.sort(lateness);
        Arrays.sort(controls);
        String told = "late: " + Arrays.toString(lateness) + ", the control: " + Arrays.toString(controls);
        assertTrue(lateness[0] >= 0, () -> "a timer fired " + -lateness[0] + " ns before its time");
        return lateness[TIMERS / 2] <= MEDIAN_LATENESS_NANOS + controls[TIMERS / 2]
                && lateness[TIMERS - 2] <= WORST_LATENESS_NANOS + controls[TIMERS - 1] ? null : told;
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
                assertTrue(done.await(15, TimeUnit.SECONDS), () -> "task " + round + " did not run");
                for (int turn = i % 1000; turn > 0; turn--) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    /** All of them in the same seconds: each loop's own processor time is counted. */
    @Test
    void idleLoopsUseNoProcessor() throws Exception {
        try (Peers parking = new Peers(1, 1, UcxWaitStrategy.PARK);
             Peers parkingConnected = new Peers(1, 1, UcxWaitStrategy.PARK);
             Peers adaptive = new Peers(1, 1, UcxWaitStrategy.ADAPTIVE);
             Peers adaptiveConnected = new Peers(1, 1, UcxWaitStrategy.ADAPTIVE)) {
            connectManyTimes(parkingConnected);
            connectManyTimes(adaptiveConnected);
            Map<String, EventLoop> loops = new TreeMap<>(Map.of(
                    "parking", parking.clientGroup.next(),
                    "parking, of clients", parkingConnected.clientGroup.next(),
                    "parking, of a server", parkingConnected.serverGroup.next(),
                    "adaptive", adaptive.clientGroup.next(),
                    "adaptive, of clients", adaptiveConnected.clientGroup.next(),
                    "adaptive, of a server", adaptiveConnected.serverGroup.next()));
            Map<String, Double> tooMuch = sharesThatAreTooMuch(loops);
            // What is done once and late is over then. What is done again and again is not.
            for (int more = 1; more < ROUNDS && !tooMuch.isEmpty(); more++) {
                loops.keySet().retainAll(tooMuch.keySet());
                tooMuch = sharesThatAreTooMuch(loops);
            }
            assertEquals(Map.of(), tooMuch, "shares of a core that idle loops use");
        }
    }

    private static Map<String, Double> sharesThatAreTooMuch(Map<String, EventLoop> loops) throws InterruptedException {
        Map<String, Future<Double>> shares = new TreeMap<>();
        loops.forEach((name, loop) -> shares.put(name, shareOfProcessor(loop)));
        Map<String, Double> tooMuch = new TreeMap<>();
        for (Map.Entry<String, Future<Double>> each : shares.entrySet()) {
            double share = Peers.await(each.getValue()).getNow();
            if (share >= MOST_OF_PROCESSOR) {
                tooMuch.put(each.getKey(), share);
            }
        }
        return tooMuch;
    }

    private static void connectManyTimes(Peers peers) throws Exception {
        UcxServerSocketChannel server = peers.listen(ChannelInboundHandlerAdapter::new);
        for (int i = 0; i < 100; i++) {
            peers.connect(server, new ChannelInboundHandlerAdapter());
        }
    }

    /** Over a time that is long enough for anything periodic to be noticed. */
    private static Future<Double> shareOfProcessor(EventLoop loop) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Promise<Double> share = loop.newPromise();
        // The loop itself tells when the time is over, so that what this takes is what a loop with a timer takes.
        loop.schedule(() -> {
            long thread = Thread.currentThread().threadId();
            long before = threads.getThreadCpuTime(thread);
            loop.schedule(() -> share.setSuccess((threads.getThreadCpuTime(thread) - before)
                    / (double) TimeUnit.SECONDS.toNanos(MEASURED_SECONDS)), MEASURED_SECONDS, TimeUnit.SECONDS);
        }, SETTLED_SECONDS, TimeUnit.SECONDS);
        return share;
    }

    @Test
    void aBusySpinningLoopEndsWhenItIsToldTo() {
        new Peers(1, 1, UcxWaitStrategy.BUSY_SPIN).close();
    }
}
