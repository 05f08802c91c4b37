// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** docs/reliability.md tells how many processes are killed, and where; {@link KilledProcessTest} counts its own. */
class KilledProcessPageTest {

    private static final Path ROOT = Path.of(Files.exists(Path.of("docs")) ? "." : "..");
    private static final int LANES = 3;
    private static final int LINKS = 2;
    /** As the one that connects and as the one that is connected to. */
    private static final int ROLES = 2;

    @Test
    void saysHowManyAreKilledAndHowManyInTheMiddleOfARendezvous() throws IOException {
        int points = KillPoint.values().length;
        int rendezvous = (int) Stream.of(KillPoint.values()).filter(KillPoint::isRendezvous).count();
        int onEachLane = points * KilledProcessTest.ROUNDS * ROLES;
        // Each setting alone: memory events where memory is in use, and an early rendezvous everywhere; and both.
        int withEvents = (rendezvous * KilledProcessTest.RENDEZVOUS_ROUNDS + KilledProcessTest.EAGER_ROUNDS) * ROLES;
        int all = LANES * onEachLane + LINKS * (onEachLane + 2 * withEvents);
        int inRendezvous = LINKS * ROLES * rendezvous
                * (2 * KilledProcessTest.ROUNDS + 2 * KilledProcessTest.RENDEZVOUS_ROUNDS);
        assertEquals(all, 2 * inRendezvous, "half of them");
        String page = Files.readString(ROOT.resolve("docs/reliability.md")).replaceAll("\\s+", " ");
        for (String text : new String[] {String.format("In full %d times on each lane, in every build %d times.",
                onEachLane, points), String.format(Locale.ROOT,
                "makes %,d kills in all, %,d of them in the middle of a rendezvous", all, inRendezvous)}) {
            assertTrue(page.contains(text), () -> "docs/reliability.md does not say: " + text);
        }
    }
}
