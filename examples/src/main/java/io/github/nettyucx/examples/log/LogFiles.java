// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.FileTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files of brokers that do not live long. */
final class LogFiles {
    private LogFiles() {
    }

    /** @param directory in which to make one; {@code null}: where the system has such */
    static Path make(Path directory) {
        try {
            return directory == null ? Files.createTempDirectory("record-log")
                    : Files.createTempDirectory(directory, "record-log");
        } catch (IOException e) {
            throw new ExampleFailure("cannot make a directory for the log: " + e.getMessage(), e);
        }
    }

    static void delete(Path files) {
        try {
            FileTree.delete(files);
        } catch (IOException e) {
            System.err.println("log: cannot delete " + files + ": " + e.getMessage());
        }
    }
}
