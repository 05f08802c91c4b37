// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Timeout(60)
class RingTest {

    private static final int CAPACITY = 4096;
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(40);
    private final Ring ring = new Ring(CAPACITY);

    /** The last span that was taken. */
    private record Taken(long position, int offset, int length, int bytes, int frames) {
    }

    private static Taken take(Ring ring, int max) {
        var taken = new AtomicReference<Taken>();
        ring.take(max, (position, offset, length, bytes, frames) ->
                taken.set(new Taken(position, offset, length, bytes, frames)));
        return taken.get();
    }

    private long put(int length) {
        long position = ring.reserve(length);
        assertTrue(position >= 0, () -> "position " + position);
        ring.commit(position, length, Frame.MESSAGE, 1);
        return position;
    }

    @Test
    void framesLieOneBehindTheOtherAndAreTakenTogether() {
        assertEquals(0, put(24));
        assertEquals(24, put(17));
        assertEquals(48, put(8));
        assertEquals(new Taken(0, 0, 56, 56, 3), take(ring, CAPACITY));
        assertNull(take(ring, CAPACITY));
    }

    @Test
    void nothingBehindAFrameThatIsNotCommittedIsTaken() {
        long first = ring.reserve(24);
        put(24);
        assertNull(take(ring, CAPACITY));
        ring.commit(first, 24, Frame.MESSAGE, 1);
        assertEquals(48, take(ring, CAPACITY).length());
    }

    @Test
    void aSpanEndsAtAFrameAndHasOneAtLeast() {
        put(24);
        put(24);
        put(1000);
        assertEquals(48, take(ring, 60).length());
        assertEquals(1000, take(ring, 60).length());
    }

    @Test
    void itIsFullUntilFramesAreGivenBack() {
        for (int i = 0; i < 4; i++) {
            put(1024);
        }
        assertEquals(Ring.FULL, ring.reserve(8));
        assertFalse(ring.hasRoom(8));
        take(ring, 1024);
        assertEquals(Ring.FULL, ring.reserve(8), "what is taken is still being sent");
        ring.free(1024);
        assertTrue(ring.hasRoom(1024));
        assertEquals(CAPACITY, put(1024));
    }

    @Test
    void whatDoesNotFitAtTheEndBeginsAtTheStart() {
        put(1024);
        put(1024);
        put(1000);
        take(ring, CAPACITY);
        ring.free(3048);
        // 1048 bytes are left.
        put(1016);
        assertEquals(CAPACITY, put(64));
        // The frame before, and the word that stands for the 32 bytes at the end.
        assertEquals(new Taken(3048, 3048, 1048, 1024, 1), take(ring, CAPACITY));
        assertEquals(new Taken(CAPACITY, 0, 64, 64, 1), take(ring, CAPACITY));
        ring.free(CAPACITY + 64);
        assertEquals(CAPACITY + 64, ring.head());
    }

    @Test
    void whatIsGivenBackIsZero() {
        Random random = new Random(1);
        for (int round = 0; round < 1000; round++) {
            int length = 8 + random.nextInt(1016);
            long position = ring.reserve(length);
            int offset = ring.offset(position);
            for (int i = 8; i + 8 <= length; i += 8) {
                assertEquals(0, ring.memory().get(ValueLayout.JAVA_LONG, offset + i));
                ring.memory().set(ValueLayout.JAVA_LONG, offset + i, -1);
            }
            ring.commit(position, length, Frame.MESSAGE, 1);
            while (take(ring, CAPACITY) != null) {
                ring.free(ring.taken());
            }
        }
    }

    @Test
    void theConsumerIsWokenOnceForManyFrames() {
        long first = ring.reserve(8);
        long second = ring.reserve(8);
        assertTrue(ring.commit(second, 8, Frame.MESSAGE, 1), "asleep at first");
        assertFalse(ring.commit(first, 8, Frame.MESSAGE, 1));
        assertFalse(ring.sleep(), "there is something to take");
        take(ring, CAPACITY);
        assertTrue(ring.sleep());
        assertTrue(ring.commit(ring.reserve(8), 8, Frame.MESSAGE, 1));
    }

    private boolean commitOne(int length, int kind) {
        return ring.commit(ring.reserve(length), length, kind, 1);
    }

    @Test
    void partsThatCanWaitDoNotWakeAConsumerThatNapsAndOthersDo() {
        ring.wake();
        assertTrue(ring.nap(64));
        assertFalse(ring.commit(ring.reserve(32), 32, Frame.FRAGMENT, 1, true));
        assertTrue(ring.commit(ring.reserve(8), 8, Frame.FRAGMENT, 1, false));
        take(ring, CAPACITY);
        assertTrue(ring.nap(64));
        assertTrue(commitOne(8, Frame.FRAGMENT), "of what is not said");
        take(ring, CAPACITY);
        assertTrue(ring.sleep());
        assertTrue(ring.commit(ring.reserve(32), 32, Frame.FRAGMENT, 1, true), "it sleeps");
    }

    @Test
    void aConsumerThatNapsIsWokenWhenThereIsMuchToTakeAndOnce() {
        ring.wake();
        assertTrue(ring.nap(64));
        assertFalse(commitOne(24, Frame.MESSAGE));
        assertFalse(commitOne(32, Frame.MESSAGE), "56 bytes");
        assertTrue(commitOne(8, Frame.MESSAGE), "64 bytes");
        assertFalse(commitOne(8, Frame.MESSAGE), "it is awake");
        assertFalse(ring.nap(64), "there is something to take");
        assertFalse(commitOne(64, Frame.MESSAGE), "it is awake still");
    }

    @Test
    void whatIsNotJustAMessageWakesAConsumerThatNaps() {
        for (int kind : new int[] {Frame.REQUEST, Frame.RESPONSE, Frame.FAILURE, Frame.FRAGMENT, Frame.FRAGMENT_ABORTED,
                Frame.SKIP}) {
            take(ring, CAPACITY);
            ring.free(ring.taken());
            assertTrue(ring.nap(512));
            assertTrue(commitOne(24, kind), "kind " + kind);
        }
    }

    @Test
    void aNapBehindManyFramesIsAsLong() {
        for (int i = 0; i < 1000; i++) {
            put(24);
            take(ring, CAPACITY);
            ring.free(ring.taken());
        }
        ring.nap(48);
        assertFalse(commitOne(24, Frame.MESSAGE));
        assertTrue(commitOne(24, Frame.MESSAGE));
    }

    @Test
    void whoTakesOverTheWakingDoesSoForOneThatNaps() {
        assertTrue(ring.wake(), "asleep at first");
        assertFalse(ring.wake());
        ring.nap(64);
        assertTrue(ring.wake());
        assertFalse(commitOne(64, Frame.MESSAGE));
    }

    @Test
    void nothingIsReservedInAClosedRing() {
        long position = ring.reserve(8);
        ring.close();
        ring.close();
        assertEquals(Ring.CLOSED, ring.reserve(8));
        ring.commit(position, 8, Frame.MESSAGE, 1);
        assertEquals(8, take(ring, CAPACITY).length());
        assertEquals(8, ring.tail());
        // But for what was accepted before.
        long accepted = ring.reserveAccepted(16);
        assertEquals(8, accepted);
        ring.commit(accepted, 16, Frame.MESSAGE, 1);
        assertEquals(16, take(ring, CAPACITY).length());
        assertEquals(Ring.CLOSED, ring.reserve(8));
    }

    @Test
    void aCapacityThatIsNoPowerOfTwoIsRefused() {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> new Ring(5000)).getMessage()
                .contains("expected: a power of two from 4096"));
        assertThrows(IllegalArgumentException.class, () -> new Ring(2048));
    }

    @Test
    void aThreadThatWaitsGoesOnWhenThereIsRoom() throws Exception {
        for (int i = 0; i < 4; i++) {
            put(1024);
        }
        var result = new AtomicReference<Boolean>();
        Thread waiting = Thread.ofPlatform().start(() -> {
            try {
                result.set(ring.waiters().await(ring::hasRoom, 8, System.nanoTime() + LONG_NANOS));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        awaitParked(waiting);
        take(ring, 1024);
        ring.free(1024);
        waiting.join();
        assertEquals(true, result.get());
        assertEquals(0, ring.waiters().parked());
    }

    @Test
    void aWaitEndsInTime() throws Exception {
        for (int i = 0; i < 4; i++) {
            put(1024);
        }
        long begin = System.nanoTime();
        assertFalse(ring.waiters().await(ring::hasRoom, 8, begin + 20_000_000));
        assertTrue(System.nanoTime() - begin >= 20_000_000);
    }

    private void awaitParked(Thread thread) throws InterruptedException {
        MessagesTest.await("it is parked",
                () -> ring.waiters().parked() > 0 && thread.getState() != Thread.State.RUNNABLE);
    }

    /** Threads put numbered frames of random lengths; the consumer looks at each, and gives back late. */
    @Test
    void manyThreadsEachInOrder() throws Exception {
        int threads = 6;
        int frames = 40_000;
        var started = new CountDownLatch(threads);
        var wakes = new AtomicInteger();
        List<Thread> producers = new ArrayList<>();
        var failure = new AtomicReference<Throwable>();
        for (int t = 0; t < threads; t++) {
            int id = t;
            producers.add(Thread.ofPlatform().start(() -> {
                try {
                    var random = new Random(id);
                    started.countDown();
                    for (int i = 0; i < frames; i++) {
                        int length = 24 + random.nextInt(200);
                        long position;
                        while ((position = ring.reserve(length)) < 0) {
                            assertTrue(ring.waiters().await(ring::hasRoom, length, System.nanoTime() + LONG_NANOS));
                        }
                        int offset = ring.offset(position);
                        ring.memory().set(ValueLayout.JAVA_INT, offset + 8, id);
                        ring.memory().set(ValueLayout.JAVA_INT, offset + 12, i);
                        ring.memory().set(ValueLayout.JAVA_BYTE, offset + length - 1, (byte) length);
                        if (ring.commit(position, length, Frame.MESSAGE, id)) {
                            wakes.incrementAndGet();
                        }
                    }
                } catch (Throwable e) {
                    failure.set(e);
                }
            }));
        }
        int[] next = new int[threads];
        long total = 0;
        var random = new Random(7);
        while (total < (long) threads * frames) {
            Taken span = take(ring, 1 + random.nextInt(CAPACITY));
            if (span != null) {
                total += check(span, next);
            }
            if (span == null || random.nextInt(3) == 0) {
                ring.free(ring.taken());
            }
            assertNull(failure.get());
        }
        for (Thread producer : producers) {
            producer.join();
        }
        for (int count : next) {
            assertEquals(frames, count);
        }
        assertEquals(1, wakes.get(), "the consumer never said that it slept again");
    }

    private int check(Taken span, int[] next) {
        int at = span.offset();
        int end = at + span.bytes();
        int frames = 0;
        while (at < end) {
            long word = ring.memory().get(ValueLayout.JAVA_LONG, at);
            int length = Frame.length(word);
            if (Frame.kind(word) == Frame.PAD) {
                assertEquals(end, at + 8);
                break;
            }
            int id = ring.memory().get(ValueLayout.JAVA_INT, at + 8);
            assertEquals(id, Frame.type(word));
            assertEquals(next[id]++, ring.memory().get(ValueLayout.JAVA_INT, at + 12));
            assertEquals((byte) length, ring.memory().get(ValueLayout.JAVA_BYTE, at + length - 1));
            at += Frame.aligned(length);
            frames++;
        }
        assertEquals(span.frames(), frames);
        return frames;
    }
}
