// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * Where an application writes to: in memory, if the machine has such a place. What it writes is forced to disk, and disks
 * are not what is compared. Closing it deletes it.
 */
record MemoryDirectory(Path path) implements AutoCloseable {

    static MemoryDirectory make(String name) throws IOException {
        Path memory = Path.of("/dev/shm");
        return new MemoryDirectory(Files.createTempDirectory(
                Files.isWritable(memory) ? memory : Path.of("").toAbsolutePath(), name));
    }

    String resolve(String name) {
        return path.resolve(name).toString();
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.walk(path)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
    }
}
