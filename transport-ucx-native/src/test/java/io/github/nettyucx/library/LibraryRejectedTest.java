// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What was short once need not be the next time; what is wrong is. */
class LibraryRejectedTest {

    /** As glibc's linker tells, and the JDK where it opens a file. */
    @ParameterizedTest
    @CsvSource({"12, true", "23, true", "24, true", "1, false", "2, false", "8, false"})
    void aShortageIsKnownByItsText(int errno, boolean momentary) {
        String text = Libc.strerror(errno);
        LibraryRejected linker = new LibraryRejected("libucs.so.0: failed to map segment from shared object: " + text);
        assertTrue(LoadedUcx.explained(linker).isMomentary() == momentary, text);
        FileNotFoundException jdk = new FileNotFoundException("/somewhere/SHA256SUMS (" + text + ")");
        assertTrue(new LibraryRejected("cannot be read", jdk).isMomentary() == momentary, text);
    }

    @Test
    void whatIsNotThereIsNot() throws LibraryRejected {
        assertFalse(new LibraryRejected("is not there", new NoSuchFileException("/nowhere")).isMomentary());
        assertFalse(LoadedUcx.explained(linkersOwn()).isMomentary());
        try (FileInputStream in = new FileInputStream("/nowhere/libucp.so.0")) {
            in.read();
        } catch (IOException e) {
            assertFalse(new LibraryRejected("is not there", e).isMomentary());
        }
        assertTrue(new LibraryRejected("cannot be read", new IOException("Input/output error")).isMomentary());
    }

    private static LibraryRejected linkersOwn() {
        try {
            Libc.dlopen(Path.of("/nowhere/libucp.so.0"));
            throw new AssertionError("it is there");
        } catch (LibraryRejected e) {
            return e;
        }
    }
}
