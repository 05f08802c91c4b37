// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class CrowdTest {

    @TempDir
    private Path directory;
    private long waitedNanos;

    /** The kernel has counted that the thread waited as long as it ran, since the last time that somebody looked. */
    private void shares() throws IOException {
        waitedNanos += 1_000_000;
        Files.writeString(schedstat(), waitedNanos + " " + waitedNanos + " 9\n");
    }

    private Path schedstat() {
        return directory.resolve("schedstat");
    }

    private Crowd crowd() {
        return new Crowd(new RunQueue(schedstat().toString()));
    }

    private static void sleeps(Crowd crowd, int times, int ofWhichWoken) {
        for (int i = 0; i < times; i++) {
            crowd.slept(i < ofWhichWoken);
        }
    }

    /** As where an executor of gRPC's answers, and has no processor but the loop's. */
    @Test
    void whoWaitsForThreadsOfItsOnlyProcessorIsCrowded() {
        Crowd crowd = crowd();
        sleeps(crowd, 1000, 251);
        assertTrue(crowd.isCrowded(1, true));
        assertFalse(crowd.isCrowded(1, true), "it has not slept since");
        sleeps(crowd, 1000, 250);
        assertFalse(crowd.isCrowded(1, true), "most of it was the peer");
        sleeps(crowd, 1000, 1000);
        assertFalse(crowd.isCrowded(2, true), "they have another processor");
        assertFalse(crowd.isCrowded(1, true), "that was before the last time");
    }

    @Test
    void whoWaitsForItsProcessorIsCrowdedUnlessItCouldGainMore() throws Exception {
        Crowd crowd = crowd();
        assertFalse(crowd.isCrowded(2, false), "the kernel has not counted yet");
        shares();
        assertTrue(crowd.isCrowded(2, false));
        assertFalse(crowd.isCrowded(2, false), "nothing has happened since");
        shares();
        assertFalse(crowd.isCrowded(2, true), "two loops may find each other in shared memory");
        assertTrue(crowd.isCrowded(1, true), "the peer may be the one that waits");
    }
}
