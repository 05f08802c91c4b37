// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A directory that goes with this object, or with this process, when that ends in an orderly way, as it does by SIGTERM. */
public final class TemporaryDirectory implements AutoCloseable {
    private static final Set<TemporaryDirectory> OPEN = ConcurrentHashMap.newKeySet();

    static {
        StartedProcesses.prepare();
        Runtime.getRuntime().addShutdownHook(new Thread(TemporaryDirectory::deleteAll, "remove-directories"));
    }

    private final Path path;

    private TemporaryDirectory(Path path) {
        this.path = path;
    }

    /**
     * @param parent in which to make it; {@code null}: where the system has such
     * @throws IOException if it cannot be made
     */
    public static TemporaryDirectory make(Path parent, String prefix) throws IOException {
        var made = new TemporaryDirectory(parent == null ? Files.createTempDirectory(prefix)
                : Files.createTempDirectory(parent, prefix));
        OPEN.add(made);
        return made;
    }

    public Path path() {
        return path;
    }

    private static void deleteAll() {
        if (!OPEN.isEmpty()) {
            // They may write into them.
            StartedProcesses.endAllAndWait();
            OPEN.forEach(TemporaryDirectory::close);
        }
    }

    /** Deletes it with all that is in it. Safe from any thread, and more than once. */
    @Override
    public synchronized void close() {
        if (OPEN.contains(this)) {
            try {
                FileTree.delete(path);
                OPEN.remove(this);
            } catch (IOException e) {
                System.err.println("cannot delete " + path + ": " + e.getMessage());
            }
        }
    }
}
