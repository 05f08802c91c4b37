// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
            long before = own.nanos();
            for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++) {
                others.add(Thread.ofPlatform().daemon().start(() -> {
                    while (!over) {
                        Thread.onSpinWait();
                    }
                }));
            }
            while (own.nanos() - before < NANOS) {
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
            long starved = -own.nanos();
            long since = System.nanoTime();
            // That is what is measured: a thread that does not want the processor is not starved.
            Thread.sleep(MILLIS);
            long slept = System.nanoTime() - since;
            starved += own.nanos();
            assertTrue(slept - starved > NANOS / 2, slept + " ns, of which " + starved + " in the queue");
        }
    }
}
