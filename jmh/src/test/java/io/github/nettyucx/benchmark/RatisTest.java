// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class RatisTest {
    private static final int FILES = 100;

    @TempDir
    private Path parent;

    /** As a server does that has been killed and has not gone yet. Otherwise the failure that ended the row would be lost. */
    @Test
    void aDirectoryThatOthersWriteIntoIsDeletedWithoutAFailure() throws Exception {
        var directory = Files.createDirectory(parent.resolve("servers"));
        var stop = new AtomicBoolean();
        var server = Thread.ofPlatform().start(() -> {
            while (!stop.get()) {
                write(directory);
            }
        });
        try {
            for (var i = 0; i < 100; i++) {
                Ratis.delete(directory);
            }
        } finally {
            stop.set(true);
            server.join();
        }
        Ratis.delete(directory);
        assertFalse(Files.exists(directory));
    }

    private static void write(Path directory) {
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
