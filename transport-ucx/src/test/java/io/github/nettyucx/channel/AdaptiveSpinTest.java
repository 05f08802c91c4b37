// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class AdaptiveSpinTest {

    private static final long LIMIT_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

    /** One idle time without work. @return whether the loop has looked before it slept */
    private static boolean looksInVain(AdaptiveSpin spin) {
        boolean looked = false;
        while (spin.again()) {
            looked = true;
        }
        spin.slept();
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
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS);
        long start = System.nanoTime();
        assertTrue(looksInVain(spin));
        assertTrue(System.nanoTime() - start >= LIMIT_NANOS);
    }

    @Test
    void goesOnLookingWhileThatPays() {
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS);
        for (int i = 0; i < 1000; i++) {
            assertTrue(spin.again());
            spin.worked();
        }
        assertTrue(looksInVain(spin));
    }

    @Test
    void sleepsAtOnceWhenLookingIsInVainAndTriesAgainNowAndThen() {
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS);
        assertEquals(8, looksIn(spin, 8));
        assertEquals(100, looksIn(spin, 3200));
    }

    @Test
    void looksAgainAfterTheFirstSuccess() {
        AdaptiveSpin spin = new AdaptiveSpin(LIMIT_NANOS);
        looksIn(spin, 8);
        assertEquals(0, looksIn(spin, 31));
        assertTrue(spin.again());
        spin.worked();
        assertEquals(8, looksIn(spin, 8));
    }

    @Test
    void neverLooksWithoutATime() {
        assertFalse(looksInVain(new AdaptiveSpin(0)));
    }
}
