// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files with what a {@link LinkStream} writes. All of them are parts of one, which is there until the process ends. */
final class LinkFiles {

    /** After so many bytes those of a stream come again. */
    private static final int PERIOD = 1 << 16;
    /** By which the bytes of one stream can differ from those of another. */
    private static final int STREAMS = 256;
    private static final int LONGEST = 1 << 14;
    private static final File ALL = write();

    private LinkFiles() {
    }

    static byte byteAt(int channelId, int position) {
        return (byte) (channelId * 37 + position + (position >>> 8));
    }

    private static File write() {
        byte[] all = new byte[STREAMS * (PERIOD + LONGEST)];
        for (int i = 0; i < all.length; i++) {
            int position = i % (PERIOD + LONGEST);
            all[i] = (byte) (i / (PERIOD + LONGEST) + byteAt(0, position));
        }
        try {
            Path file = Files.createTempFile("netty-ucx-", ".test");
            file.toFile().deleteOnExit();
            return Files.write(file, all).toFile();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static FileRegion region(int channelId, int position, int length) {
        if (length > LONGEST) {
            throw new IllegalArgumentException(length + " bytes; expected at most " + LONGEST);
        }
        long stream = channelId * 37 & STREAMS - 1;
        return new DefaultFileRegion(ALL, stream * (PERIOD + LONGEST) + (position & PERIOD - 1), length);
    }
}
