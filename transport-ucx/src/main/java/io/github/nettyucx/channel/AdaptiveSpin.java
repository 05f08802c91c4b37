// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntUnaryOperator;
import java.util.function.LongSupplier;

/**
 * Decides how long an idle loop looks for work before it sleeps.
 * <p>
 * Looking pays when work comes within that time. Where it does not, it only makes everything later: after a few vain
 * attempts the loop sleeps at once.
 * <p>
 * Two loops that wait for each other can both be in that state although both would find work at once if both looked: each
 * finds that the other takes long, because it sleeps. So while sleeps are short the loop tries now and then whether it is
 * worth its while to look for as long as they take, and if so goes on like that for some time, in which the other has
 * its own turn to find that out. From then on both need no more than the usual time. Each try in vain makes the next one
 * rarer. When it comes is left to chance, or else two loops could miss each other's turns for ever.
 * <p>
 * While only one of them looks, what it gains may be nothing, and less than nothing where it keeps the processor from an
 * executor. So at first a try goes on whatever it gains: the loop seeks the other. When that has led to nothing for long, it
 * is taken that there is nobody to be found, and a try ends at once if work does not come sooner than it would have ended a
 * sleep.
 * <p>
 * Where other threads wait for the loop's processor a try takes it away from them, and they may be the very ones that it
 * waits for. So whoever has the loop may say that a try is put off, once it does not seek any more, and the next one becomes
 * rarer still. At first it may be the compilers of the JVM that have the processor, and they will be done.
 * <p>
 * It does not yield while it looks: whoever else has work for the core, as a compiler of the JVM, would keep it for some
 * milliseconds each time, where a loop that sleeps is woken at once.
 */
final class AdaptiveSpin {

    /** Vain attempts in a row after which looking is given up. */
    private static final int PATIENCE = 8;

    /**
     * How many short sleeps go by at most before it is tried again, and half as many at least; from the first to the
     * last, it doubles. With the last one two loops find each other within some ten thousand messages, and one that tries
     * in vain spends less than a hundredth of the time on it: a try takes as long as two sleeps.
     */
    private static final int FIRST_INTERVAL = 32;
    private static final int LAST_INTERVAL = 1024;

    /**
     * The same while others have the processor. To ask whether they have takes longer than a sleep does, and so becomes as
     * rare.
     */
    private static final int CROWDED_INTERVAL = 16 * LAST_INTERVAL;

    /**
     * So many short sleeps may go by, with tries in vain, before the loop seeks no more: some seven seconds' worth at two
     * sleeps for a message and 9,000 messages a second. Two loops that can find each other were seen to do so within a few
     * seconds, while their code was being compiled.
     */
    private static final int SEEKS = 128 * LAST_INTERVAL;

    /** A try has led to something if work came so often within the usual time before it was given up again. */
    private static final int LASTING = 1024;

    /** A sleep of up to this time is short: about what it takes to wake the other, and be woken by it. */
    private static final long SHORT_SLEEP_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    /** Successes in a row, after more than the usual time, after which the other is not going to be faster. */
    private static final int LATE_SUCCESSES = LAST_INTERVAL / 8;

    /** What a sleep takes is an average over some so many. */
    private static final int SLEEPS = 16;

    /** Looking has to be faster than sleeping by an eighth: less may be chance, and is not worth a processor. */
    private static final int LEAST_GAIN = 8;

    /**
     * How often a spinning loop looks at the clock: reading it costs as much as a turn. The time counts from the first
     * look on, so that work that comes sooner costs none.
     */
    private static final int TURNS_PER_CLOCK_READ = 8;

    private final long usualNanos;
    private final LongSupplier clock;
    private final IntUnaryOperator random;
    private final BooleanSupplier crowded;
    private long limitNanos;
    private long lastSleepNanos;
    /** What short sleeps take that have begun at once. */
    private long sleepNanos;
    private long sinceNanos;
    private long lookedNanos;
    /** By how much less time has gone by, since a try began, than if the loop had slept each time; if it does not seek. */
    private long gainedNanos;
    private int vain;
    /** Short sleeps since a try has led to something, or since the beginning; no more than {@link #SEEKS}. */
    private int sought;
    /** How often work has come within the usual time since the last try began. */
    private long soon;
    private int skipped;
    private int interval = FIRST_INTERVAL;
    private int skipsBeforeTry = FIRST_INTERVAL;
    private int turns;
    private boolean late;
    private boolean isCrowded;
    /** Whether it has been asked for the try that is due: a loop that rests does not make it yet. */
    private boolean asked;
    private int lateSuccesses;
    private boolean resting;

    /** @param crowded whether a try that is due is put off; asked when a sleep has ended */
    AdaptiveSpin(long usualNanos, BooleanSupplier crowded) {
        this(usualNanos, System::nanoTime, new SplittableRandom()::nextInt, crowded);
    }

    /**
     * With another clock and other chances, for tests.
     *
     * @param random gives a number from 0 up to, but not including, the one that it is given
     */
    AdaptiveSpin(long usualNanos, LongSupplier clock, IntUnaryOperator random, BooleanSupplier crowded) {
        this.usualNanos = usualNanos;
        this.clock = clock;
        this.random = random;
        this.crowded = crowded;
        limitNanos = usualNanos;
    }

    /** The loop has found work. */
    void worked() {
        if (turns == 0) {
            return;
        }
        turns = 0;
        if (!late) {
            soon++;
            vain = 0;
            interval = FIRST_INTERVAL;
            isCrowded = false;
            asked = false;
            skipsBeforeTry = FIRST_INTERVAL;
            limitNanos = usualNanos;
            lateSuccesses = 0;
        } else if (goesOn(lookedNanos) && ++lateSuccesses < LATE_SUCCESSES) {
            vain = 0;
        } else {
            giveUp();
        }
    }

    private boolean isSeeking() {
        return sought < SEEKS;
    }

    /**
     * Whether to go on with a try: to seek, or because it has paid so far.
     *
     * @param idleNanos how long it took until work came, this time
     */
    private boolean goesOn(long idleNanos) {
        if (isSeeking()) {
            return true;
        }
        gainedNanos += sleepNanos - sleepNanos / LEAST_GAIN - idleNanos;
        return gainedNanos >= 0;
    }

    /** The next idle time is to begin with a sleep. It is no vain attempt: nobody knows whether work would have come. */
    void rest() {
        resting = true;
    }

    /** Whether the next {@link #again} says that the loop should sleep. */
    boolean sleepsNext() {
        return turns == 0 && (usualNanos == 0 || resting || vain >= PATIENCE && !isTryDue());
    }

    private boolean isTryDue() {
        return lastSleepNanos <= SHORT_SLEEP_NANOS && skipped + 1 >= skipsBeforeTry;
    }

    /** The loop has found nothing. @return whether it should look again; otherwise it should sleep */
    boolean again() {
        if (turns == 0 && !begin()) {
            return false;
        }
        if (++turns % TURNS_PER_CLOCK_READ != 0) {
            return true;
        }
        long now = clock.getAsLong();
        if (turns == TURNS_PER_CLOCK_READ) {
            sinceNanos = now;
            return true;
        }
        lookedNanos = now - sinceNanos;
        late = lookedNanos >= usualNanos;
        return lookedNanos < limitNanos;
    }

    private boolean begin() {
        if (usualNanos == 0 || resting) {
            return false;
        }
        if (vain >= PATIENCE) {
            if (lastSleepNanos > SHORT_SLEEP_NANOS || ++skipped < skipsBeforeTry) {
                return false;
            }
            skipped = 0;
            if (soon >= LASTING) {
                sought = 0;
            }
            soon = 0;
            gainedNanos = 0;
            limitNanos = Math.max(usualNanos, 2 * lastSleepNanos);
        }
        late = false;
        return true;
    }

    /**
     * The loop has slept: at once, or because looking was in vain.
     *
     * @param nanos for how long
     */
    void slept(long nanos) {
        lastSleepNanos = nanos;
        resting = false;
        if (isSeeking() && nanos <= SHORT_SLEEP_NANOS) {
            sought++;
        }
        if (turns > 0) {
            turns = 0;
            boolean goesOn = goesOn(lookedNanos + nanos);
            if (++vain > PATIENCE || !goesOn && limitNanos > usualNanos) {
                giveUp();
            }
        } else if (nanos <= SHORT_SLEEP_NANOS) {
            sleepNanos += (nanos - sleepNanos) / SLEEPS;
        }
        if (!isSeeking() && vain >= PATIENCE && interval >= LAST_INTERVAL && isTryDue() && !asked) {
            putOffIfCrowded();
        }
    }

    private void putOffIfCrowded() {
        asked = true;
        isCrowded = crowded.getAsBoolean();
        // Once in a while it is tried nevertheless.
        if (isCrowded && interval < CROWDED_INTERVAL) {
            skipped = 0;
            giveUp();
        }
    }

    private void giveUp() {
        vain = PATIENCE;
        asked = false;
        interval = Math.min(isCrowded ? CROWDED_INTERVAL : LAST_INTERVAL, 2 * interval);
        skipsBeforeTry = interval - random.applyAsInt(interval / 2);
        limitNanos = usualNanos;
        lateSuccesses = 0;
    }
}
