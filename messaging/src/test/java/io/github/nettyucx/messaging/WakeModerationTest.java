// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.messaging;

import io.netty.channel.DefaultEventLoop;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** When a loop naps, by what it has sent between its sleeps. */
class WakeModerationTest {

    private static final int SMALL = 16;

    private final WakeModeration moderation = new WakeModeration(null, () -> { });

    private boolean naps(int messages, boolean slept) {
        return moderation.naps(messages, (long) messages * SMALL, slept);
    }

    /** @return how many sleeps it takes, each for so many messages, until the loop naps */
    private int sleepsUntilItNaps(int messages) {
        int sleeps = 1;
        while (!naps(messages, true)) {
            sleeps++;
            assertTrue(sleeps < 100_000, "it naps");
        }
        return sleeps;
    }

    /** @return how many naps it makes, each with so many messages behind it, until it sleeps */
    private int napsUntilItSleeps(int messages) {
        int naps = 1;
        while (naps(messages, true)) {
            naps++;
            assertTrue(naps < 100_000, "it sleeps");
        }
        return naps;
    }

    @Test
    void aLoopThatIsWokenForEachMessageNapsAfterAWhile() {
        assertEquals(WakeModeration.FIRST_PATIENCE, sleepsUntilItNaps(1));
    }

    @Test
    void soDoesOneThatFindsTwoEachTime() {
        assertEquals(WakeModeration.FIRST_PATIENCE, sleepsUntilItNaps(2));
    }

    /** A ring full of messages now and then, because the thread has waited for room. */
    @Test
    void soDoesOneThatFindsFewOnAnAverage() {
        int sleeps = 1;
        while (!naps(sleeps % 12 == 0 ? 12 : 1, true)) {
            sleeps++;
            assertTrue(sleeps < 100_000, "it naps");
        }
        assertEquals(WakeModeration.FIRST_PATIENCE, sleeps);
    }

    @Test
    void oneThatFindsMoreOnAnAverageDoesNot() {
        for (int i = 0; i < 10_000; i++) {
            assertFalse(naps(3, true));
            assertFalse(naps(2, true));
        }
        for (int i = 0; i < 10_000; i++) {
            assertFalse(naps(1, true));
            assertFalse(naps(10, false));
        }
    }

    @Test
    void oneThatHasFoundVeryManyBeginsTheCountAnew() {
        for (int i = 1; i < WakeModeration.FIRST_PATIENCE; i++) {
            assertFalse(naps(1, true));
        }
        assertFalse(naps(WakeModeration.FEW * WakeModeration.FIRST_PATIENCE, true));
        assertEquals(WakeModeration.FIRST_PATIENCE, sleepsUntilItNaps(1));
    }

    @Test
    void aLoopThatLooksForMessagesDoesNotNap() {
        for (int i = 0; i < 10_000; i++) {
            assertFalse(naps(1, false));
        }
        assertTrue(sleepsUntilItNaps(1) >= WakeModeration.FIRST_PATIENCE);
    }

    @Test
    void aTurnWithoutAMessageSaysNothing() {
        for (int i = 0; i < 10_000; i++) {
            assertFalse(naps(0, true));
        }
        assertEquals(WakeModeration.FIRST_PATIENCE, sleepsUntilItNaps(1));
    }

    @Test
    void itGoesOnForAsLongAsNapsAreWorthIt() {
        sleepsUntilItNaps(1);
        for (int i = 0; i < 10_000; i++) {
            assertTrue(naps(i % 2 == 0 ? 2 * WakeModeration.WORTH : 0, i % 3 != 0));
        }
        // The last round is over, and a new one brings little.
        assertEquals(WakeModeration.ROUND, napsUntilItSleeps(WakeModeration.WORTH - 1));
    }

    @Test
    void fewLargeMessagesAreWorthANapAsWell() {
        sleepsUntilItNaps(1);
        for (int i = 0; i < 10_000; i++) {
            assertTrue(moderation.naps(1, WakeModeration.WORTH_BYTES, true));
        }
        for (int i = 1; i < WakeModeration.ROUND; i++) {
            assertTrue(moderation.naps(1, WakeModeration.WORTH_BYTES - 1, true));
        }
        assertFalse(moderation.naps(1, WakeModeration.WORTH_BYTES - 1, true));
    }

    @Test
    void eachTimeThatNapsAreNotWorthItTheNextOneIsFurtherAway() {
        int patience = sleepsUntilItNaps(1);
        for (int i = 0; i < 10; i++) {
            assertEquals(WakeModeration.ROUND, napsUntilItSleeps(0));
            patience = Math.min(WakeModeration.LAST_PATIENCE, 2 * patience);
            assertEquals(patience, sleepsUntilItNaps(1));
        }
        assertEquals(WakeModeration.LAST_PATIENCE, patience);
    }

    @Test
    void napsThatAreWorthItMakeTheNextOneAsNearAsTheFirst() {
        sleepsUntilItNaps(1);
        napsUntilItSleeps(0);
        sleepsUntilItNaps(1);
        for (int i = 0; i < WakeModeration.ROUND; i++) {
            assertTrue(naps(WakeModeration.WORTH, true));
        }
        napsUntilItSleeps(0);
        // This was worth nothing again, and doubles what the one before has begun anew.
        assertEquals(2 * WakeModeration.FIRST_PATIENCE, sleepsUntilItNaps(1));
    }

    @Test
    void loopsOfOtherKindsDoNotNap() {
        var loop = new DefaultEventLoop();
        var others = new WakeModeration(loop, () -> { });
        for (int i = 0; i < 10_000; i++) {
            assertFalse(others.naps(1, SMALL));
        }
    }
}
