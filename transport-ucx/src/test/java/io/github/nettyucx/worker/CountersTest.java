// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicBoolean;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class CountersTest {

    private enum Thing {
        APPLES, PEARS
    }

    @Test
    void countsEachThingByItself() {
        Counters<Thing> counters = new Counters<>(Thing.class);
        counters.increment(Thing.APPLES);
        counters.add(Thing.PEARS, Long.MAX_VALUE - 1);
        Counters<Thing> other = new Counters<>(Thing.class);
        other.increment(Thing.APPLES);
        other.addAll(counters);
        assertEquals(1, counters.get(Thing.APPLES));
        assertEquals(2, other.get(Thing.APPLES));
        assertEquals(Long.MAX_VALUE - 1, other.get(Thing.PEARS));
        assertEquals(Long.MIN_VALUE, other.sum(), "sums wrap around, as longs do");
    }

    /** Without opaque access the reader's loop could be compiled to one that never sees anything new. */
    @Test
    void anotherThreadSeesItGrowAndNeverShrink() throws InterruptedException {
        Counters<Thing> counters = new Counters<>(Thing.class);
        AtomicBoolean ended = new AtomicBoolean();
        Thread writer = Thread.ofPlatform().start(() -> {
            while (!ended.get()) {
                counters.increment(Thing.APPLES);
            }
        });
        long before = 0;
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (before < 1_000_000 && System.nanoTime() - deadline < 0) {
            long now = counters.get(Thing.APPLES);
            assertTrue(now >= before, () -> "a counter went down to " + now);
            before = now;
        }
        ended.set(true);
        writer.join();
        assertTrue(before >= 1_000_000, "counted " + before);
        assertTrue(counters.get(Thing.APPLES) >= before);
    }
}
