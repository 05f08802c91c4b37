// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PeriodicLooksTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final PeriodicLooks looks = new PeriodicLooks();
    private final List<String> seen = new ArrayList<>();

    private void add(String name, int times, long now) {
        int[] left = {times};
        looks.add(() -> {
            seen.add(name);
            return --left[0] > 0;
        }, now);
    }

    @Test
    void comeOnceASecondAndAsOftenAsTheyAreAskedFor() {
        add("a", 2, 0);
        looks.run(SECOND - 1);
        assertEquals(List.of(), seen);
        looks.run(SECOND);
        looks.run(2 * SECOND - 1);
        assertEquals(List.of("a"), seen);
        assertFalse(looks.isEmpty());
        looks.run(2 * SECOND);
        assertEquals(List.of("a", "a"), seen);
        assertTrue(looks.isEmpty());
        looks.run(3 * SECOND);
        assertEquals(2, seen.size());
    }

    @Test
    void whatComesAfterAPauseHasASecond() {
        add("a", 1, 0);
        looks.run(SECOND);
        add("b", 1, 10 * SECOND);
        looks.run(11 * SECOND - 1);
        assertEquals(List.of("a"), seen);
        looks.run(11 * SECOND);
        assertEquals(List.of("a", "b"), seen);
    }

    /** It may have next time. */
    @Test
    void whoHasNoMemoryIsAskedAgain() {
        boolean[] full = {true};
        looks.add(() -> {
            if (full[0]) {
                throw new OutOfMemoryError("as the test wants it");
            }
            seen.add("a");
            return false;
        }, 0);
        looks.run(SECOND);
        full[0] = false;
        looks.run(2 * SECOND);
        assertEquals(List.of("a"), seen);
    }

    @Test
    void whoThrowsIsNotAskedAgainAndTheOthersAre() {
        looks.add(() -> {
            seen.add("thrower");
            throw new IllegalStateException("as the test wants it");
        }, 0);
        add("a", 2, 0);
        looks.run(SECOND);
        looks.run(2 * SECOND);
        assertEquals(List.of("thrower", "a", "a"), seen);
        assertTrue(looks.isEmpty());
    }
}
