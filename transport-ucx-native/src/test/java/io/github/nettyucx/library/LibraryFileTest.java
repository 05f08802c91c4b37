// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibraryFileTest {
    @TempDir
    Path temporary;

    private static String rejection(Path path) {
        return assertThrows(LibraryRejected.class, () -> LibraryFile.read(path, Platform.current())).getMessage();
    }

    @Test
    void findsTheVersionWithoutLoading() throws Exception {
        for (String release : new String[] {"1.16", "1.22"}) {
            Path library = TestUcx.directory(release).resolve("libucp.so.0");
            assertEquals(Optional.of(release + ".0"),
                    LibraryFile.read(library, Platform.current()).version().map(UcxVersion::toString));
        }
    }

    @Test
    void readsTheBundleOfEveryPlatform() throws Exception {
        Path natives = TestUcx.classPathEntry().getParent();
        for (Path entry : TestUcx.list(natives)) {
            String classifier = entry.getFileName().toString();
            Path library = entry.resolve("META-INF/native/" + classifier + "/ucx/1.22.0/libucp.so.0");
            Platform platform = Platform.of("Linux", classifier.endsWith("aarch_64") ? "aarch64" : "amd64");
            assertEquals(classifier, platform.classifier());
            if (Files.exists(library)) {
                assertEquals(new UcxVersion(1, 22, 0), LibraryFile.read(library, platform).version().orElseThrow());
            }
        }
    }

    /** Of whoever asks first whether there is UCX: the answer is kept. */
    @Test
    void isReadByAThreadThatHasBeenInterrupted() throws Exception {
        Path library = TestUcx.directory("1.22").resolve("libucp.so.0");
        Thread.currentThread().interrupt();
        try {
            assertTrue(LibraryFile.read(library, Platform.current()).version().isPresent());
        } finally {
            assertTrue(Thread.interrupted(), "the mark is gone");
        }
    }

    @Test
    void doesNotGuessBetweenTwoVersions() throws Exception {
        Path library = TestUcx.copy(temporary.resolve("copy")).resolve("libucp.so.0");
        byte[] contents = Files.readAllBytes(library);
        // In the padding of the ELF identification, which is part of the first segment but means nothing.
        System.arraycopy("1.2.3\0".getBytes(), 0, contents, 9, 6);
        Files.write(library, contents);
        assertEquals(Optional.empty(), LibraryFile.read(library, Platform.current()).version());
    }

    @Test
    void doesNotTakeAFileOfAnotherMachine() throws Exception {
        Path library = TestUcx.copy(temporary.resolve("copy")).resolve("libucp.so.0");
        byte[] contents = Files.readAllBytes(library);
        contents[18] = (byte) (Platform.current().elfMachine() == 62 ? 183 : 62);
        Files.write(library, contents);
        String message = rejection(library);
        assertTrue(message.startsWith("is built for another machine (linux-"), message);
        contents[18] = 21;
        Files.write(library, contents);
        assertTrue(rejection(library).contains("64-bit ELF machine 21"));
    }

    @Test
    void doesNotTakeAProgramOrAnythingElse() throws Exception {
        Path library = TestUcx.copy(temporary.resolve("copy")).resolve("libucp.so.0");
        byte[] contents = Files.readAllBytes(library);
        Path file = temporary.resolve("file");

        Files.write(file, Arrays.copyOf(contents, 4096));
        assertEquals("is cut short or damaged", rejection(file));
        Files.write(file, Arrays.copyOf(contents, 40));
        assertEquals("is not a shared library (no ELF header)", rejection(file));
        Files.write(file, new byte[0]);
        assertEquals("is not a shared library (no ELF header)", rejection(file));
        contents[16] = 2;
        Files.write(file, contents);
        assertEquals("is not a shared library (an ELF file of another type)", rejection(file));
        assertTrue(rejection(temporary).startsWith("cannot be read"));
        assertEquals("does not exist", rejection(temporary.resolve("missing")));
    }
}
