// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Room for a file is found without writing to it. */
class RoomTest {
    static final Path MEMORY = Path.of("/dev/shm");
    private static final int LENGTH = 300_000;

    @TempDir
    private Path directory;

    /** What the file takes of its file system. */
    static long bytesFound(Path file) throws IOException, InterruptedException {
        var stat = new ProcessBuilder("stat", "--format=%b %B", file.toString()).redirectErrorStream(true).start();
        var said = new String(stat.getInputStream().readAllBytes(), US_ASCII).strip();
        assertEquals(0, stat.waitFor(), said);
        return Arrays.stream(said.split(" ")).mapToLong(Long::parseLong).reduce(1, (blocks, size) -> blocks * size);
    }

    static boolean isThereMemory() throws IOException {
        return Files.isWritable(MEMORY) && Files.getFileStore(MEMORY).type().equals("tmpfs");
    }

    @Test
    void theFileGetsItAndKeepsWhatItHas() throws Exception {
        assumeTrue(isThereMemory(), "there is no file system in memory here");
        var file = Files.createTempFile(MEMORY, "room", null);
        try {
            Files.write(file, new byte[] {1, 2, 3});
            assertTrue(bytesFound(file) < LENGTH);
            assertTrue(Room.find(file, 0, LENGTH));
            assertTrue(bytesFound(file) >= LENGTH);
            assertTrue(Room.find(file, LENGTH, LENGTH));
            assertTrue(bytesFound(file) >= 2 * LENGTH);
            var expected = Arrays.copyOf(new byte[] {1, 2, 3}, 2 * LENGTH);
            assertArrayEquals(expected, Files.readAllBytes(file));
        } finally {
            Files.delete(file);
        }
    }

    @Test
    void whereThereIsNoFileThereIsNone() throws Exception {
        var file = directory.resolve("none");
        assertFalse(Room.find(file, 0, LENGTH));
        assertFalse(Files.exists(file));
    }

    @Test
    void whatTheSystemRefusesIsNotFound() throws Exception {
        var file = Files.createFile(directory.resolve("file"));
        assertFalse(Room.find(file, -1, LENGTH));
        assertEquals(0, Files.size(file));
    }
}
