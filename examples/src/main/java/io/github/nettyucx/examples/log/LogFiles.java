// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.TemporaryDirectory;
import java.io.IOException;
import java.nio.file.Path;

/** Files of brokers that do not live long. */
final class LogFiles {
    private LogFiles() {
    }

    /** @param directory in which to make one; {@code null}: where the system has such */
    static TemporaryDirectory make(Path directory) {
        try {
            return TemporaryDirectory.make(directory, "record-log");
        } catch (IOException e) {
            throw new ExampleFailure("cannot make a directory for the log: " + e.getMessage(), e);
        }
    }
}
