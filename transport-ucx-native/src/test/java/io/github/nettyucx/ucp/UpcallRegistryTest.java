// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class UpcallRegistryTest {

    @Test
    void anIdThatWasUnregisteredFindsNothingEvenIfItsPlaceIsTaken() {
        UpcallRegistry<String> registry = new UpcallRegistry<>();
        long first = registry.register("first");
        registry.unregister(first);
        long second = registry.register("second");
        assertNotEquals(first, second);
        assertNull(registry.get(first));
        registry.unregister(first);
        assertEquals("second", registry.get(second));
    }

    @Test
    void numbersThatAreNoIdsFindNothing() {
        UpcallRegistry<String> registry = new UpcallRegistry<>();
        for (long id : new long[] {0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 32}) {
            assertNull(registry.get(id));
        }
    }

    @Test
    void anyOrderOfRegisteringAndUnregisteringKeepsTheRest() {
        UpcallRegistry<Integer> registry = new UpcallRegistry<>();
        Map<Long, Integer> expected = new HashMap<>();
        Random random = new Random(42);
        for (int i = 0; i < 20_000; i++) {
            if (random.nextInt(5) < 3 || expected.isEmpty()) {
                long id = registry.register(i);
                assertTrue(id > 0);
                assertNull(expected.put(id, i), "an id was given twice");
            } else {
                long id = expected.keySet().iterator().next();
                assertEquals(expected.remove(id), registry.get(id));
                registry.unregister(id);
            }
        }
        expected.forEach((id, value) -> assertEquals(value, registry.get(id)));
    }
}
