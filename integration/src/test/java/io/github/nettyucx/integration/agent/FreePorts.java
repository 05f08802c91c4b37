// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that have to be told theirs: below those that the kernel gives to connections, one of which might take
 * a port before its server does.
 */
final class FreePorts {

    private static final int FIRST = 15_000;
    private static final int BEHIND_LAST = 30_000;
    /** None is given twice, nor by two processes: the servers that are to have them may not have been started yet. */
    private static final Queue<DatagramSocket> GIVEN = new ConcurrentLinkedQueue<>();

    private FreePorts() {
    }

    static int take() {
        return take(1).getFirst();
    }

    static List<Integer> take(int count) {
        List<Integer> ports = new ArrayList<>();
        while (ports.size() < count) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, BEHIND_LAST);
            if (isFree(port)) {
                ports.add(port);
            }
        }
        return ports;
    }

    private static boolean isFree(int port) {
        try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            // The same number of UDP's is a sign for others, as long as this process lives.
            GIVEN.add(new DatagramSocket(port, InetAddress.getLoopbackAddress()));
            return probe.getLocalPort() == port;
        } catch (IOException e) {
            return false;
        }
    }
}
