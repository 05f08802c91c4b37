// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import java.util.SplittableRandom;
import java.util.function.Supplier;

/** Makes every decision of a seeded run, and tells what happens when somebody wants to know. */
final class Dice {

    private final SplittableRandom random;
    private final boolean tracing;

    Dice(long seed, boolean tracing) {
        // Neighbouring seeds shall not have similar runs.
        random = new SplittableRandom(seed * 0x9e3779b97f4a7c15L);
        this.tracing = tracing;
    }

    /** From 0 to {@code bound - 1}. */
    int below(int bound) {
        return random.nextInt(bound);
    }

    /** From {@code low} to {@code high}, both included. */
    int between(int low, int high) {
        return random.nextInt(low, high + 1);
    }

    boolean chance(int percent) {
        return percent > 0 && random.nextInt(100) < percent;
    }

    int pick(int... choices) {
        return choices[below(choices.length)];
    }

    void trace(Supplier<String> event) {
        if (tracing) {
            System.out.println(event.get());
        }
    }
}
