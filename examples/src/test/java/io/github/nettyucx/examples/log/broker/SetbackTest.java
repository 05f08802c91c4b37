// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A broker that could not begin to lead leaves it to others for a while. */
class SetbackTest {
    private static final long PAUSE = Setback.PAUSE.toNanos();

    private long now = Long.MAX_VALUE - PAUSE / 2;
    private final Setback setback = new Setback(() -> now);

    @Test
    void itIsTriedAgainWhenThePauseIsOver() {
        assertFalse(setback.isFresh());
        setback.suffered();
        assertTrue(setback.isFresh());
        now += PAUSE - 1;
        assertTrue(setback.isFresh());
        now++;
        assertFalse(setback.isFresh());
        setback.suffered();
        assertTrue(setback.isFresh());
    }

    /** The clock's numbers come again after some hundred years, and what is over is not to begin anew. */
    @Test
    void whatIsOverStaysOver() {
        setback.suffered();
        now += PAUSE;
        assertFalse(setback.isFresh());
        now += Long.MAX_VALUE;
        assertFalse(setback.isFresh());
    }

    @Test
    void eachOfTheOthersHasItOnce() {
        var others = List.of("one", "two");
        setback.suffered();
        assertEquals("one", setback.next(others));
        setback.wasTaken();
        assertEquals("two", setback.next(others));
        setback.wasTaken();
        assertNull(setback.next(others));
        // Those that have had it may be able to lead when this one has tried again.
        setback.suffered();
        assertEquals("one", setback.next(others));
    }

    @Test
    void whoDoesNotAnswerIsAskedAgain() {
        var others = List.of("one", "two");
        setback.suffered();
        assertEquals("one", setback.next(others));
        assertEquals("two", setback.next(others));
        assertEquals("one", setback.next(others));
        setback.wasTaken();
        assertEquals("two", setback.next(others));
        setback.wasTaken();
        assertNull(setback.next(others));
    }

    @Test
    void whereNobodyElseCanLeadNobodyIsAsked() {
        setback.suffered();
        assertNull(setback.next(List.of()));
    }

    @Test
    void thePageTellsThePause() throws IOException {
        var page = Files.readString(Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent()
                .resolve("docs/record-log.md"));
        assertTrue(page.contains("for " + Setback.PAUSE.toSeconds() + " s it leaves the leadership to others"));
    }
}
