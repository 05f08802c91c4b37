// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Who has no processor is starved, and who sleeps is not. */
@Timeout(60)
class StarvationTest {

    private static final long MILLIS = 300;
    private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(MILLIS);

    private volatile boolean over;

    @Test
    void aThreadAmongManyIsStarved() throws Exception {
        List<Thread> others = new ArrayList<>();
        try (Starvation own = new Starvation()) {
            own.addCaller();
            assertEquals(1, own.threads());
            long before = own.queuedNanos();
            for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++) {
                others.add(Thread.ofPlatform().daemon().start(() -> {
                    while (!over) {
                        Thread.onSpinWait();
                    }
                }));
            }
            while (own.queuedNanos() - before < NANOS) {
                Thread.onSpinWait();
            }
        } finally {
            over = true;
            for (Thread other : others) {
                other.join();
            }
        }
    }

    /** However long it takes to be given a processor afterwards. */
    @Test
    void oneThatSleepsIsNot() throws Exception {
        try (Starvation own = new Starvation()) {
            own.addCaller();
            long since = System.nanoTime();
            long starved = -own.queuedNanos();
            // That is what is measured: a thread that does not want the processor is not starved.
            Thread.sleep(MILLIS);
            starved += own.queuedNanos();
            // Begun before and taken behind: what it was starved for is all within it.
            long slept = System.nanoTime() - since;
            assertTrue(slept - starved > NANOS / 2, slept + " ns, of which " + starved + " in the queue");
        }
    }

    /** Whether a machine has a host that takes anything is chance. What is counted is what the kernel tells. */
    @Test
    void whatTheHostTakesCounts() throws Exception {
        long before = stolenNanos();
        long counted;
        try (Starvation nobody = new Starvation()) {
            counted = nobody.nanos();
        }
        assertTrue(before <= counted && counted <= stolenNanos(), () -> counted + " ns, but " + before + " were told before");
    }

    private static long stolenNanos() throws IOException {
        String[] all = Files.readAllLines(Path.of("/proc/stat")).getFirst().trim().split(" +");
        assertEquals("cpu", all[0]);
        // Hundredths of a second; before it are user, nice, system, idle, iowait, irq and softirq.
        return TimeUnit.MILLISECONDS.toNanos(10 * Long.parseLong(all[8]));
    }
}
