// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.processes;

import io.github.nettyucx.channel.OwnProcess;
import io.github.nettyucx.channel.TcpTable;

import java.io.IOException;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** The TCP ports that this process listens on, as the kernel knows it. */
final class ListeningPorts {

    private ListeningPorts() {
    }

    static SortedSet<Integer> own() throws IOException {
        Set<String> sockets = OwnProcess.sockets();
        SortedSet<Integer> ports = new TreeSet<>();
        for (TcpTable.Row row : TcpTable.rows()) {
            if (row.listening() && sockets.contains(row.inode())) {
                ports.add(row.localPort());
            }
        }
        return ports;
    }
}
