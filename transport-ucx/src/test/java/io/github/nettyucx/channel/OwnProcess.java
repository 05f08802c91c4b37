// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** What this process occupies, as the kernel counts it. */
public final class OwnProcess {

    /** Of Linux on x86-64, and as a rule on aarch64. */
    private static final int PAGE = 4096;
    private static final long WAIT_MILLIS = 10_000;

    private OwnProcess() {
    }

    /** The descriptor with which they are counted is among them. */
    public static int openDescriptors() throws IOException {
        int descriptors = 0;
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path ignored : open) {
                descriptors++;
            }
        }
        return descriptors;
    }

    /** The inodes of its sockets, by which the kernel's tables name them. */
    public static Set<String> sockets() throws IOException {
        Set<String> inodes = new HashSet<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                try {
                    String target = Files.readSymbolicLink(descriptor).toString();
                    if (target.startsWith("socket:[")) {
                        inodes.add(target.substring("socket:[".length(), target.length() - 1));
                    }
                } catch (NoSuchFileException e) {
                    // Closed meanwhile, as that of the directory will be.
                }
            }
        }
        return inodes;
    }

    /** Waits until there are as many as before; some are given back late. Fails the test if that takes more than 10 s. */
    static void awaitDescriptors(int expected) throws Exception {
        Eventually.await(WAIT_MILLIS, () -> expected + " file descriptors, but there are " + openDescriptors(),
                () -> openDescriptors() == expected);
    }

    /** @return in bytes */
    public static long resident() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * PAGE;
    }
}
