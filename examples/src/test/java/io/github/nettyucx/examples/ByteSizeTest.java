// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizeTest {
    @ParameterizedTest
    @CsvSource({"1, 1, 1 B", "16, 16, 16 B", "1k, 1024, 1 KiB", "1500, 1500, 1500 B", "64K, 65536, 64 KiB",
        "1m, 1048576, 1 MiB", "3MiB, 3145728, 3 MiB", "16B, 16, 16 B", "1g, 1073741824, 1 GiB"})
    void readsSizesAndWritesThemUnrounded(String text, int bytes, String written) {
        var size = ByteSize.parse(text);
        assertEquals(bytes, size.bytes());
        assertEquals(written, size.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "k", "-1", "1.5k", "16 bytes", "ten", "0x10"})
    void rejectsWhatIsNoSize(String text) {
        assertMessage(text, "is not a size");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "0k", "1025m", "2g", "999999999999g"})
    void rejectsWhatIsOutOfRange(String text) {
        assertMessage(text, "is out of range");
    }

    private static void assertMessage(String text, String fault) {
        var message = assertThrows(IllegalArgumentException.class, () -> ByteSize.parse(text)).getMessage();
        assertTrue(message.startsWith("'" + text + "' " + fault) && message.contains("Expected"), message);
    }
}
