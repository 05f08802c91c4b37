// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that have to be told theirs: below those that the kernel gives to connections, one of which might take
 * a port before its server does.
 */
final class FreePorts {

    private static final int FIRST = 15_000;
    private static final int BEHIND_LAST = 30_000;
    /** None is given twice: the servers that are to have them may not have been started yet. */
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    private FreePorts() {
    }

    static int take() {
        return take(1).getFirst();
    }

    static List<Integer> take(int count) {
        List<Integer> ports = new ArrayList<>();
        while (ports.size() < count) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, BEHIND_LAST);
            if (GIVEN.add(port) && isFree(port)) {
                ports.add(port);
            }
        }
        return ports;
    }

    private static boolean isFree(int port) {
        try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort() == port;
        } catch (IOException e) {
            return false;
        }
    }
}
