// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The TCP sockets of this network namespace, as the kernel knows them. */
public final class TcpTable {

    private static final List<Path> TABLES = List.of(Path.of("/proc/self/net/tcp"), Path.of("/proc/self/net/tcp6"));
    private static final String ESTABLISHED = "01";
    private static final String LISTEN = "0A";
    // Columns.
    private static final int LOCAL = 1;
    private static final int REMOTE = 2;
    private static final int STATE = 3;
    private static final int QUEUES = 4;
    private static final int INODE = 9;
    private static final int HEXADECIMAL = 16;

    /** @param unread bytes; of one that listens, connections that wait to be accepted */
    public record Row(int localPort, int remotePort, boolean established, boolean listening, int unread, String inode) {
    }

    private TcpTable() {
    }

    public static List<Row> rows() throws IOException {
        List<Row> rows = new ArrayList<>();
        for (Path table : TABLES) {
            try {
                Files.readAllLines(table).stream().skip(1).map(TcpTable::row).forEach(rows::add);
            } catch (NoSuchFileException e) {
                // A kernel without IPv6.
            }
        }
        return rows;
    }

    private static Row row(String line) {
        String[] columns = line.strip().split("\\s+");
        return new Row(behindColon(columns[LOCAL]), behindColon(columns[REMOTE]), columns[STATE].equals(ESTABLISHED),
                columns[STATE].equals(LISTEN), behindColon(columns[QUEUES]), columns[INODE]);
    }

    private static int behindColon(String pair) {
        return Integer.parseUnsignedInt(pair.substring(pair.indexOf(':') + 1), HEXADECIMAL);
    }

    /** How many connections wait to be accepted at a port. */
    public static int backlog(int port) throws IOException {
        return rows().stream().filter(row -> row.listening() && row.localPort() == port).findFirst()
                .orElseThrow(() -> new IOException("nobody listens on port " + port)).unread();
    }
}
