// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Waits for what another thread or process does in its own time, and tells nobody of. */
public final class Eventually {

    private static final long LOOK_MILLIS = 5;

    private Eventually() {
    }

    /**
     * Returns when the condition is met, and fails the test if that takes longer.
     *
     * @param missing what is not as it should be
     */
    public static void await(long millis, Callable<String> missing, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (!condition.call()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not within " + millis + " ms: " + missing.call());
            }
            // Between two looks.
            Thread.sleep(LOOK_MILLIS);
        }
    }
}
