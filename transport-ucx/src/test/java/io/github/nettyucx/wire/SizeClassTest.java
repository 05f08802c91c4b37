// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class SizeClassTest {

    @Test
    void aClassEndsAtItsLimit() {
        int from = 1;
        for (SizeClass size : SizeClass.values()) {
            assertEquals(size, SizeClass.of(from), () -> "least of " + size);
            assertEquals(size, SizeClass.of(size.limit()), () -> "most of " + size);
            from = size.limit() + 1;
        }
    }
}
