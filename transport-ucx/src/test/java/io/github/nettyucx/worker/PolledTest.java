// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** What one operation throws does not keep the others from their turn. */
class PolledTest {

    private final Polled polled = new Polled();
    private final List<String> seen = new ArrayList<>();

    private final class Operation implements InFlight {
        private final String name;
        private final boolean throwing;
        private final boolean goesOn;

        Operation(String name, boolean throwing, boolean goesOn) {
            this.name = name;
            this.throwing = throwing;
            this.goesOn = goesOn;
        }

        @Override
        public boolean poll() {
            seen.add(name);
            if (throwing) {
                throw new LinkageError("as the test wants it");
            }
            return goesOn;
        }

        @Override
        public boolean threw(Throwable cause) {
            seen.add(name + " threw");
            if (!goesOn) {
                throw new LinkageError("as the test wants it", cause);
            }
            return true;
        }
    }

    @Test
    void theOthersArePolledWhateverOneThrows() {
        polled.add(new Operation("a", false, true));
        polled.add(new Operation("b", true, true));
        polled.add(new Operation("c", false, false));
        polled.add(new Operation("d", true, false));
        polled.add(new Operation("e", false, true));
        assertEquals(2, polled.poll());
        assertEquals(List.of("e", "d", "d threw", "c", "b", "b threw", "a"), seen);
        seen.clear();
        assertEquals(0, polled.poll());
        assertEquals(List.of("e", "b", "b threw", "a"), seen);
    }

    @Test
    void oneThatIsAddedMeanwhileIsPolledInTheNextTurn() {
        polled.add(() -> {
            polled.add(new Operation("late", false, false));
            return false;
        });
        assertEquals(0, polled.poll());
        assertEquals(List.of(), seen);
        assertEquals(1, polled.poll());
        assertEquals(List.of("late"), seen);
        assertEquals(0, polled.count());
    }
}
