// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.storage;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/** What has happened to a record when it is acknowledged. */
public enum Durability {
    /** The operating system has it: it survives every end of the process, but not a loss of power. */
    PAGE_CACHE,
    /** It has been forced to disk. */
    DISK;

    /** Has a file's own entries persist, where its data does. */
    void persist(FileChannel file) throws IOException {
        if (this == DISK) {
            file.force(true);
        }
    }

    /** The same of a directory's. */
    public void persist(Path directory) throws IOException {
        if (this == DISK) {
            try (var channel = FileChannel.open(directory, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }

    /** The name by which the command line knows it. */
    @Override
    public String toString() {
        return this == DISK ? "disk" : name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
