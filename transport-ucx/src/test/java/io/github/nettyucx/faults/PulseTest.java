// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import io.github.nettyucx.faults.Heartbeat.Gap;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** What excuses a gap of a loop's heartbeat: gaps of the controls at the same time, and want of a processor. */
class PulseTest {

    private static final Gap GAP = new Gap(100, 300);

    @Test
    void aGapOfAControlAtAnotherTimeIsNoExcuse() {
        assertEquals(0, Pulse.covered(GAP, List.of(new Gap(0, 90), new Gap(310, 900))));
    }

    @Test
    void aGapOfAControlExcusesNoMoreThanItsPart() {
        assertEquals(50 + 20, Pulse.covered(GAP, List.of(new Gap(50, 150), new Gap(280, 500))));
    }

    @Test
    void gapsOfTwoControlsAtTheSameTimeCountOnce() {
        assertEquals(60, Pulse.covered(GAP, List.of(new Gap(120, 160), new Gap(130, 150), new Gap(140, 180))));
    }

    @Test
    void wantOfAProcessorExplainsNoMoreThanItsTime() {
        Gap starved = new Gap(GAP.from(), GAP.to(), 60);
        assertEquals(140, Pulse.stall(starved, starved, List.of()));
        assertEquals(140, Pulse.stall(starved, starved, List.of(new Gap(120, 160))), "at the same time, perhaps");
        assertEquals(120, Pulse.stall(starved, starved, List.of(new Gap(120, 200))));
        assertEquals(0, Pulse.stall(new Gap(100, 300, 250), new Gap(200, 300), List.of()));
        assertEquals(200, Pulse.stall(GAP, GAP, List.of()));
    }

    @Test
    void aLongerGapOfAControlExcusesAll() {
        assertEquals(200, Pulse.covered(GAP, List.of(new Gap(0, 1000))));
    }
}
