// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/** What this process occupies, as the kernel counts it. */
public final class OwnProcess {

    /** Of Linux on x86-64, and as a rule on aarch64. */
    private static final int PAGE = 4096;
    private static final long WAIT_MILLIS = 10_000;
    private static final String SOCKET = " socket:[";

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
        for (String descriptor : descriptors()) {
            int start = descriptor.indexOf(SOCKET);
            if (start >= 0) {
                inodes.add(descriptor.substring(start + SOCKET.length(), descriptor.length() - 1));
            }
        }
        return inodes;
    }

    /**
     * What each descriptor stands for, as {@code /proc/self/fd} has it: {@code 7 socket:[4711]}. The one with which they
     * are read is not among them.
     */
    static Set<String> descriptors() throws IOException {
        Set<String> descriptors = new TreeSet<>();
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : open) {
                try {
                    descriptors.add(descriptor.getFileName() + " " + Files.readSymbolicLink(descriptor));
                } catch (NoSuchFileException e) {
                    // Closed meanwhile.
                }
            }
        }
        descriptors.removeIf(descriptor -> descriptor.endsWith("/fd"));
        return descriptors;
    }

    /** Waits until there are as many as before; some are given back late. Fails the test if that takes more than 10 s. */
    static void awaitDescriptors(Set<String> before) throws Exception {
        Eventually.await(WAIT_MILLIS, () -> {
            Set<String> now = descriptors();
            Set<String> gone = new TreeSet<>(before);
            gone.removeAll(now);
            Set<String> come = new TreeSet<>(now);
            come.removeAll(before);
            return before.size() + " file descriptors, but there are " + now.size() + "; gone: " + gone + ", come: " + come;
        }, () -> descriptors().size() == before.size());
    }

    /** @return in bytes */
    public static long resident() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * PAGE;
    }
}
