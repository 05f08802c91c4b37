// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class AdaptiveSpinTest {

    private static final long LIMIT_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

    private static final long SHORT_NANOS = TimeUnit.MICROSECONDS.toNanos(1);

    private static final long TICK_NANOS = 500;

    private static final long TRANSFER_NANOS = TimeUnit.MICROSECONDS.toNanos(1);

    /** More than the limit: to look is in vain while the other sleeps. */
    private static final long WAKE_UP_NANOS = TimeUnit.MICROSECONDS.toNanos(25);

    /** At two wake-ups each, about one and a half seconds'. */
    private static final int MOST_SLOW_ROUND_TRIPS = 30_000;

    private long nanos;

    /** Time goes on when it is asked for. */
    private long tick() {
        return nanos += TICK_NANOS;
    }

    /** One idle time without work. @return whether the loop has looked before it slept */
    private static boolean looksInVain(AdaptiveSpin spin) {
        boolean looked = false;
        boolean sleeps = spin.sleepsNext();
        while (spin.again()) {
            looked = true;
            assertFalse(spin.sleepsNext(), "while it looks");
        }
        assertEquals(!looked, sleeps, "what it says before");
        spin.slept(SHORT_NANOS);
        return looked;
    }

    private static int looksIn(AdaptiveSpin spin, int idleTimes) {
        int looked = 0;
        for (int i = 0; i < idleTimes; i++) {
            looked += looksInVain(spin) ? 1 : 0;
        }
        return looked;
    }

    @Test
    void looksForTheWholeTimeBeforeItSleeps() {
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS, this::tick, bound -> 0, () -> false);
        long start = nanos;
        assertTrue(looksInVain(spin));
        assertTrue(nanos - start >= LIMIT_NANOS);
    }

    @Test
    void goesOnLookingWhileThatPays() {
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS, this::tick, bound -> 0, () -> false);
        for (int i = 0; i < 1000; i++) {
            assertTrue(spin.again());
            spin.worked();
        }
        assertTrue(looksInVain(spin));
    }

    /** A thread of the process may need the processor. */
    @Test
    void restsOnceIfItIsTold() {
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS, this::tick, bound -> 0, () -> false);
        for (int i = 0; i < 1000; i++) {
            spin.rest();
            // What comes before the loop has slept changes nothing.
            spin.worked();
            assertFalse(spin.again());
            assertFalse(spin.again());
            spin.slept(SHORT_NANOS);
            // It was no attempt in vain.
            assertTrue(spin.again());
            spin.worked();
        }
        assertEquals(8, looksIn(spin, 8 + 31));
    }

    @Test
    void workThatComesSoonCostsNoLookAtTheClock() {
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS, this::tick, bound -> 0, () -> false);
        for (int i = 0; i < 1000; i++) {
            for (int turn = 0; turn < 7; turn++) {
                assertTrue(spin.again());
            }
            spin.worked();
        }
        assertEquals(0, nanos, "time went on, and so somebody has asked for it");
    }

    @Test
    void sleepsAtOnceWhenLookingIsInVainAndTriesAgainMoreAndMoreRarely() {
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS, this::tick, bound -> 0, () -> false);
        assertEquals(8, looksIn(spin, 8));
        assertEquals(0, looksIn(spin, 31));
        assertEquals(1, looksIn(spin, 1));
        assertEquals(0, looksIn(spin, 63));
        assertEquals(1, looksIn(spin, 1));
        looksIn(spin, 100_000);
        assertEquals(10, looksIn(spin, 10 * 1024));
    }

    /** One that has tried so often in vain that it seeks nobody any more; the next try is the last interval away. */
    private static void weary(AdaptiveSpin spin) {
        assertEquals(8 + 5 + 127, looksIn(spin, 8 + 32 + 64 + 128 + 256 + 512 + 127 * 1024));
    }

    /** It is asked when a try is due, and not for each sleep. */
    @Test
    void aTryIsPutOffWhileOthersHaveTheProcessor() {
        var crowded = new AtomicBoolean(true);
        var asked = new AtomicInteger();
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS, this::tick, bound -> 0, () -> {
            asked.incrementAndGet();
            return crowded.get();
        });
        weary(spin);
        assertEquals(0, asked.get(), "it has sought its peer");
        assertEquals(0, looksIn(spin, (1 + 2 + 4 + 8) * 1024 - 4), "each time twice as late");
        assertEquals(4, asked.get());
        assertEquals(0, looksIn(spin, 16 * 1024 - 1));
        assertEquals(1, looksIn(spin, 1), "once in a while it tries nevertheless");
        assertEquals(10, looksIn(spin, 160 * 1024));
        assertEquals(4 + 11, asked.get(), "once for each");
        crowded.set(false);
        assertEquals(1, looksIn(spin, 16 * 1024));
        looksIn(spin, 100_000);
        assertEquals(10, looksIn(spin, 10 * 1024));
    }

    /** A loop that rests sleeps without a try, and the try that is due stays so. */
    @Test
    void itIsAskedOnceForATry() {
        var asked = new AtomicInteger();
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS, this::tick, bound -> 0, () -> {
            asked.incrementAndGet();
            return false;
        });
        weary(spin);
        looksIn(spin, 1023);
        assertEquals(1, asked.get());
        for (int i = 0; i < 100; i++) {
            spin.rest();
            assertFalse(looksInVain(spin));
        }
        assertEquals(1, asked.get());
        assertTrue(looksInVain(spin));
        assertEquals(1, looksIn(spin, 1024));
        assertEquals(2, asked.get());
    }

    @Test
    void looksAsUsualAfterASuccess() {
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS, this::tick, bound -> 0, () -> false);
        looksIn(spin, 8);
        assertEquals(0, looksIn(spin, 31));
        assertTrue(spin.again());
        spin.worked();
        assertEquals(8, looksIn(spin, 8));
        assertEquals(0, looksIn(spin, 31));
    }

    @Test
    void aTryTakesAsLongAsASleepAndGoesOnLikeThatForSomeTime() {
        long patient = 5 * LIMIT_NANOS;
        AdaptiveSpin spin = aboutToTry(patient);
        // What would have ended a sleep comes while the loop looks, and sooner: the other need not wake it.
        assertEquals(128, successesAfter(spin, patient / 2));
    }

    /** As where both answer by an executor that has the loop's processor, and the other sleeps. */
    @Test
    void aTryGoesOnAtFirstAlthoughWorkComesLaterThanItWouldHaveEndedASleep() {
        long patient = 5 * LIMIT_NANOS;
        AdaptiveSpin spin = aboutToTry(patient);
        assertEquals(128, successesAfter(spin, patient + patient / 2));
    }

    /** Who shares the loop's processor with it is slower while it looks. */
    @Test
    void aTryEndsAtOnceIfWorkComesLaterAndNobodyHasBeenFoundForLong() {
        long patient = 5 * LIMIT_NANOS;
        AdaptiveSpin spin = aboutToTryWearily(patient);
        assertEquals(1, successesAfter(spin, patient + patient / 2));
        // The one in which it would not look any more counts.
        assertEquals(0, looksIn(spin, 1024 - 2), "and the next one is as rare");
        assertEquals(1, looksIn(spin, 1));
    }

    /** As where a loop waits in turns for its peer and for a thread that has the same processor. */
    @Test
    void whatATryGainsAndLosesIsSummedUp() {
        long patient = 5 * LIMIT_NANOS;
        AdaptiveSpin spin = aboutToTryWearily(patient);
        int successes = 0;
        while (lookFor(spin, successes % 2 == 0 ? patient / 2 : patient + patient / 2)) {
            spin.worked();
            successes++;
        }
        assertTrue(successes > 1 && successes < 8, successes + " successes");
    }

    /** Where little happens nobody can be found. What is sought later is sought as at first. */
    @Test
    void longSleepsAreNotForSeeking() {
        long patient = 5 * LIMIT_NANOS;
        AdaptiveSpin spin = aboutToTry(patient);
        sleep(spin, TimeUnit.MILLISECONDS.toNanos(1), 200_000);
        // The first of these ends the long ones, and makes none of those that a try waits for.
        sleep(spin, patient, 1 + 63);
        assertEquals(128, successesAfter(spin, patient + patient / 2));
    }

    /** Some work that comes soon says little: it may be the loop's own. */
    @Test
    void whoHasFoundTheOtherSeeksItAgain() {
        long patient = 5 * LIMIT_NANOS;
        for (int soon : new int[] {1023, 1024}) {
            AdaptiveSpin spin = aboutToTryWearily(patient);
            for (int i = 0; i < soon; i++) {
                assertTrue(spin.again());
                spin.worked();
            }
            sleep(spin, patient, 8 + 31);
            assertEquals(soon < 1024 ? 1 : 128, successesAfter(spin, patient + patient / 2), soon + " times");
        }
    }

    private static void sleep(AdaptiveSpin spin, long nanos, int times) {
        for (int i = 0; i < times; i++) {
            while (spin.again()) {
                continue;
            }
            spin.slept(nanos);
        }
    }

    private AdaptiveSpin aboutToTryWearily(long sleepNanos) {
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS, this::tick, bound -> 0, () -> false);
        weary(spin);
        sleep(spin, sleepNanos, 1023);
        return spin;
    }

    /** @return one that has slept for so long each time */
    private AdaptiveSpin aboutToTry(long sleepNanos) {
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS, this::tick, bound -> 0, () -> false);
        sleep(spin, sleepNanos, 8 + 31);
        return spin;
    }

    /** @return how many times in a row the loop looks for so long */
    private int successesAfter(AdaptiveSpin spin, long time) {
        int successes = 0;
        while (lookFor(spin, time)) {
            spin.worked();
            successes++;
        }
        return successes;
    }

    @Test
    void doesNotTryWhileSleepsAreLong() {
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS, this::tick, bound -> 0, () -> false);
        looksIn(spin, 8);
        int looked = 0;
        for (int i = 0; i < 1000; i++) {
            looked += spin.again() ? 1 : 0;
            spin.slept(TimeUnit.MILLISECONDS.toNanos(1));
        }
        // The one that the sleeps before have led to is due at most.
        assertTrue(looked <= 1, "tried again");
    }

    @Test
    void twoLoopsThatFindEachOtherSlowBecauseTheySleepFindOutInTime() {
        int slowest = 0;
        for (int seed = 0; seed < 1000; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            Loop one = new Loop(random.split(), seed % 2 == 0);
            Loop other = new Loop(random.split(), seed % 4 < 2);
            int roundTrips = 0;
            // A turn of one is followed by one of the other.
            long sent = Math.max(one.idleSince, other.idleSince);
            long begun;
            do {
                begun = sent;
                sent = one.answer(other.answer(sent));
                roundTrips++;
            } while (sent - begun > 4 * TRANSFER_NANOS && roundTrips < 100_000);
            slowest = Math.max(slowest, roundTrips);
        }
        assertTrue(slowest <= MOST_SLOW_ROUND_TRIPS, slowest + " slow round trips");
    }

    /** One that has tried for some time in vain, and so does it more rarely. Its answers take no time. */
    private static final class Loop {

        private final AdaptiveSpin spin;
        private long now;
        private long idleSince;

        Loop(SplittableRandom random, boolean seeks) {
            spin = new AdaptiveSpin(LIMIT_NANOS, () -> now += TICK_NANOS, random::nextInt, () -> false);
            looksIn(spin, (seeks ? 20_000 : 140_000) + random.nextInt(10_000));
            idleSince = now;
        }

        /** @return when the answer to a message that is sent at that time arrives */
        long answer(long sent) {
            long arrival = sent + TRANSFER_NANOS;
            now = idleSince;
            while (spin.again()) {
                if (now >= arrival) {
                    spin.worked();
                    idleSince = now;
                    return now;
                }
                now += TICK_NANOS / 8;
            }
            long slept = now;
            now = Math.max(now, arrival) + WAKE_UP_NANOS;
            spin.slept(now - slept);
            idleSince = now;
            return now;
        }
    }

    /** @return whether the loop has looked for so long */
    private boolean lookFor(AdaptiveSpin spin, long time) {
        long start = nanos;
        while (spin.again()) {
            if (nanos - start >= time) {
                return true;
            }
        }
        return false;
    }

    @Test
    void neverLooksWithoutATime() {
        assertFalse(looksInVain(new AdaptiveSpin(0, this::tick, bound -> 0, () -> false)));
    }
}
