// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class FileTreeTest {
    private static final int FILES = 100;
    private static final int TIMES = 100;

    @TempDir
    private Path parent;

    @Test
    void allThatIsInADirectoryIsDeletedAndNothingElse() throws IOException {
        var beside = Files.writeString(Files.createDirectory(parent.resolve("beside")).resolve("file"), "stays");
        var directory = parent.resolve("directory");
        Files.createDirectories(directory.resolve("some/more"));
        Files.writeString(directory.resolve("some/file"), "goes");
        Files.createSymbolicLink(directory.resolve("some/more/link"), beside.getParent());
        FileTree.delete(directory);
        assertFalse(Files.exists(directory, LinkOption.NOFOLLOW_LINKS));
        assertEquals("stays", Files.readString(beside));
        // It may be done twice, and of one file.
        FileTree.delete(directory);
        FileTree.delete(beside);
        assertFalse(Files.exists(beside));
    }

    /** As a process does that has been killed and has not gone yet. There may be something left then, and that is told. */
    @Test
    void whatOthersDeleteMeanwhileIsNotMissed() throws Exception {
        var directory = Files.createDirectory(parent.resolve("directory"));
        var stop = new AtomicBoolean();
        var other = Thread.ofPlatform().start(() -> {
            while (!stop.get()) {
                makeAndDelete(directory);
            }
        });
        try {
            for (var i = 0; i < TIMES; i++) {
                try {
                    FileTree.delete(directory);
                } catch (IOException e) {
                    // The other has made something behind it.
                }
            }
        } finally {
            stop.set(true);
            other.join();
        }
        FileTree.delete(directory);
        assertFalse(Files.exists(directory));
    }

    private static void makeAndDelete(Path directory) {
        for (var i = 0; i < FILES; i++) {
            try {
                Files.createDirectories(directory.resolve(Integer.toString(i)).resolve("log"));
            } catch (IOException e) {
                // It has been deleted between its parent and itself.
            }
        }
        for (var i = 0; i < FILES; i++) {
            var log = directory.resolve(Integer.toString(i)).resolve("log");
            log.toFile().delete();
            log.getParent().toFile().delete();
        }
    }
}
