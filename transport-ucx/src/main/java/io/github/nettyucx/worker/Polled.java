// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.util.Arrays;

/** What a worker polls once in every turn. What one of them throws is logged, and is not the others' matter. */
final class Polled {

    private InFlight[] operations = new InFlight[16];
    private int count;
    /** Where the look at them is that goes on: those before it follow. */
    private int next;

    void add(InFlight operation) {
        if (count == operations.length) {
            operations = Arrays.copyOf(operations, count * 2);
        }
        operations[count++] = operation;
    }

    int count() {
        return count;
    }

    /** @return how many have left nothing to be polled for */
    int poll() {
        int before = count;
        next = count;
        // One guard around the loop, and not one for each; it goes on behind whoever has thrown.
        while (next > 0) {
            try {
                pollRest();
            } catch (Throwable e) {
                ProgressEngine.log(e);
                threw(e);
            }
        }
        return Math.max(0, before - count);
    }

    private void pollRest() {
        while (next > 0) {
            next--;
            if (!operations[next].poll()) {
                remove(next);
            }
        }
    }

    private void threw(Throwable cause) {
        boolean goesOn = false;
        try {
            goesOn = operations[next].threw(cause);
        } catch (Throwable e) {
            ProgressEngine.log(e);
        }
        if (!goesOn) {
            remove(next);
        }
    }

    private void remove(int i) {
        // Operations that were added meanwhile stand behind i; the last one fills the gap.
        count--;
        operations[i] = operations[count];
        operations[count] = null;
    }
}
