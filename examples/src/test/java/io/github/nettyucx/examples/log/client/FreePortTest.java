// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Two servers that are still to be started do not get the same port. */
class FreePortTest {
    private static final long SEED = 1;

    @Test
    void noneIsGivenTwice() {
        var first = FreePort.take(new SplittableRandom(SEED));
        assertNotEquals(first, FreePort.take(new SplittableRandom(SEED)));
    }
}
