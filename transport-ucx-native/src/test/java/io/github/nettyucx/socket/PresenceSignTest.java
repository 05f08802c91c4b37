// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class PresenceSignTest {
    private final byte[] number = new byte[32];

    @BeforeEach
    void makeUpANumber() {
        KernelRandom.fill(number);
    }

    @Test
    void itIsThereUntilItIsClosed() throws IOException {
        assertFalse(PresenceSign.isThere(number));
        try (PresenceSign sign = PresenceSign.open(number)) {
            assertNotNull(sign);
            assertTrue(PresenceSign.isThere(number));
            byte[] other = number.clone();
            other[31] ^= 1;
            assertFalse(PresenceSign.isThere(other));
            sign.close();
            assertFalse(PresenceSign.isThere(number));
        }
    }

    @Test
    void itIsLeftByOneOnly() throws IOException {
        try (PresenceSign first = PresenceSign.open(number)) {
            assertNotNull(first);
            assertNull(PresenceSign.open(number));
            assertTrue(PresenceSign.isThere(number));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 33})
    void aNumberHasOneTo32Bytes(int length) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> PresenceSign.open(new byte[length]));
        assertEquals("a number of " + length + " bytes; expected 1 to 32", e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void thatOfAProcessGoesWithIt(boolean killed) throws Exception {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-Xmx64m", "--enable-native-access=ALL-UNNAMED",
                "-cp", System.getProperty("java.class.path"), PresenceSignMain.class.getName(),
                HexFormat.of().formatHex(number)).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = process.inputReader()) {
            assertEquals("there", output.readLine());
            assertTrue(PresenceSign.isThere(number));
            if (killed) {
                process.destroyForcibly();
            } else {
                process.getOutputStream().close();
            }
            assertTrue(process.waitFor(30, TimeUnit.SECONDS));
            assertFalse(PresenceSign.isThere(number));
        } finally {
            process.destroyForcibly();
        }
    }
}
