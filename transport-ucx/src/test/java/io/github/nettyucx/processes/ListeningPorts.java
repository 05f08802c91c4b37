// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.processes;

import io.github.nettyucx.channel.TcpTable;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** The TCP ports that this process listens on, as the kernel knows it. */
final class ListeningPorts {

    private ListeningPorts() {
    }

    static SortedSet<Integer> own() throws IOException {
        Set<String> sockets = ownSockets();
        SortedSet<Integer> ports = new TreeSet<>();
        for (TcpTable.Row row : TcpTable.rows()) {
            if (row.listening() && sockets.contains(row.inode())) {
                ports.add(row.localPort());
            }
        }
        return ports;
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
