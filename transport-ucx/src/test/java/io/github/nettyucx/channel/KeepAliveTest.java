// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class KeepAliveTest {

    /** The kernel's largest values for idle time and interval, and for the number of probes. */
    private static final int MOST_SECONDS = 32767;
    private static final int MOST_PROBES = 127;

    @Test
    void aSilentPeerIsGivenUpAfterTheTimeThatIsSet() {
        for (int seconds = 2; seconds <= MOST_SECONDS; seconds++) {
            KeepAlive keepAlive = KeepAlive.within(seconds);
            int ends = keepAlive.idleSeconds() + keepAlive.count() * keepAlive.intervalSeconds();
            String what = seconds + " s: " + keepAlive;
            assertTrue(ends <= seconds && ends >= seconds - seconds / 4, what);
            assertTrue(keepAlive.count() >= 1 && keepAlive.count() <= MOST_PROBES, what);
        }
        assertEquals(new KeepAlive(1, 1, 1), KeepAlive.within(1));
        assertEquals(new KeepAlive(1, 1, 2), KeepAlive.within(3));
        assertEquals(new KeepAlive(10, 5, 4), KeepAlive.within(30));
    }
}
