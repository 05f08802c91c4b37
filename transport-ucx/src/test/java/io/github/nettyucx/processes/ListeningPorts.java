// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.processes;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** The TCP ports that this process listens on, as the kernel knows it. */
final class ListeningPorts {

    private static final String LISTEN = "0A";
    // Columns of /proc/net/tcp.
    private static final int LOCAL = 1;
    private static final int STATE = 3;
    private static final int INODE = 9;
    private static final int HEXADECIMAL = 16;

    private ListeningPorts() {
    }

    static SortedSet<Integer> own() throws IOException {
        Set<String> sockets = ownSockets();
        SortedSet<Integer> ports = new TreeSet<>();
        for (String table : List.of("/proc/self/net/tcp", "/proc/self/net/tcp6")) {
            for (String line : lines(table)) {
                String[] columns = line.strip().split("\\s+");
                if (columns[STATE].equals(LISTEN) && sockets.contains(columns[INODE])) {
                    String local = columns[LOCAL];
                    ports.add(Integer.parseInt(local.substring(local.indexOf(':') + 1), HEXADECIMAL));
                }
            }
        }
        return ports;
    }

    private static List<String> lines(String table) throws IOException {
        try {
            return Files.readAllLines(Path.of(table)).stream().skip(1).toList();
        } catch (NoSuchFileException e) {
            // A kernel without IPv6.
            return List.of();
        }
    }

    /** Their inodes. */
    private static Set<String> ownSockets() throws IOException {
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
}
