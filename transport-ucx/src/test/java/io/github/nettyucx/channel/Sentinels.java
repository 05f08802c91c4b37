// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Files that are open all the time, on descriptors that have just been free: who closes a descriptor twice closes one
 * of them.
 */
final class Sentinels implements AutoCloseable {

    private static final int FILES = 64;

    private final Path directory;
    private final List<FileChannel> files = new ArrayList<>();

    Sentinels() throws IOException {
        directory = Files.createTempDirectory("sentinels");
        for (int i = 0; i < FILES; i++) {
            Files.writeString(directory.resolve(i + ""), "sentinel " + i);
        }
        open();
    }

    private void open() throws IOException {
        for (int i = 0; i < FILES; i++) {
            files.add(FileChannel.open(directory.resolve(i + ""), StandardOpenOption.READ));
        }
    }

    /** Each descriptor is still that of its file; takes others then. */
    void check() throws IOException {
        for (int i = 0; i < FILES; i++) {
            ByteBuffer content = ByteBuffer.allocate(100);
            files.get(i).read(content, 0);
            assertEquals("sentinel " + i, new String(content.array(), 0, content.position()),
                    "the file behind a descriptor that nobody has closed");
            files.get(i).close();
        }
        files.clear();
        open();
    }

    @Override
    public void close() throws IOException {
        check();
        for (int i = 0; i < FILES; i++) {
            files.get(i).close();
            Files.delete(directory.resolve(i + ""));
        }
        Files.delete(directory);
    }
}
