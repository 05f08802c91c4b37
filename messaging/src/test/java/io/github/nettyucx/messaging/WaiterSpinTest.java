// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class WaiterSpinTest {

    private static final long USUAL_NANOS = 20_000;

    private final WaiterSpin spin = new WaiterSpin();

    /** @return how many of so many waits the thread has spun in */
    private int spins(int waits, boolean answered) {
        int spins = 0;
        for (int i = 0; i < waits; i++) {
            if (spin.begin(USUAL_NANOS) > 0) {
                spins++;
                spin.ended(answered);
            }
        }
        return spins;
    }

    @Test
    void spinsAsLongAsThatPays() {
        assertEquals(10_000, spins(10_000, true));
    }

    @Test
    void oneAnswerThatTakesLongChangesNothing() {
        for (int i = 0; i < 1000; i++) {
            assertEquals(WaiterSpin.PATIENCE - 1, spins(WaiterSpin.PATIENCE - 1, false));
            assertEquals(1, spins(1, true));
        }
    }

    @Test
    void givesUpWhatIsInVainAndTriesItMoreAndMoreRarely() {
        assertEquals(WaiterSpin.PATIENCE, spins(WaiterSpin.PATIENCE + WaiterSpin.FIRST_INTERVAL - 1, false));
        assertEquals(1, spins(1, false));
        assertEquals(0, spins(2 * WaiterSpin.FIRST_INTERVAL - 1, false));
        assertEquals(1, spins(1, false));
        spins(100 * WaiterSpin.LAST_INTERVAL, false);
        int tries = spins(100 * WaiterSpin.LAST_INTERVAL, false);
        assertEquals(100, tries);
    }

    @Test
    void aTryThatIsAnsweredBringsItBack() {
        spins(10 * WaiterSpin.LAST_INTERVAL, false);
        int waits = 0;
        while (spin.begin(USUAL_NANOS) == 0) {
            waits++;
        }
        assertTrue(waits < WaiterSpin.LAST_INTERVAL);
        spin.ended(true);
        assertEquals(100, spins(100, true));
        // And it is given up as before, and tried again as soon as at first.
        assertEquals(WaiterSpin.PATIENCE + 1, spins(WaiterSpin.PATIENCE + WaiterSpin.FIRST_INTERVAL, false));
    }
}
