// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class UcxVersionTest {
    @Test
    void readsWhatUcxWrites() {
        assertEquals(Optional.of(new UcxVersion(1, 22, 0)), UcxVersion.parse("1.22.0"));
        assertEquals(Optional.of(new UcxVersion(1, 17, 3)), UcxVersion.parse("1.17.3-rc2"));
        assertEquals(Optional.empty(), UcxVersion.parse("1.22"));
        assertEquals(Optional.empty(), UcxVersion.parse("1.99999.0"));
        assertEquals(Optional.empty(), UcxVersion.parse(""));
    }

    @Test
    void comparesByNumberNotByText() {
        assertTrue(new UcxVersion(1, 9, 9).compareTo(new UcxVersion(1, 16, 0)) < 0);
        assertTrue(new UcxVersion(2, 0, 0).isSupported());
        assertTrue(new UcxVersion(1, 16, 0).isSupported());
        assertFalse(new UcxVersion(1, 15, 99).isSupported());
    }
}
