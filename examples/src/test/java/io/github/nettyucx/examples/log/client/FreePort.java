// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A port for a server that is told its own. */
public final class FreePort {
    private static final int FIRST = 10_000;
    private static final int BEHIND_LAST = 30_000;
    /** None is given twice, nor by two processes: the servers that are to have them may not have been started yet. */
    private static final Queue<DatagramSocket> GIVEN = new ConcurrentLinkedQueue<>();

    private FreePort() {
    }

    /** Below those that the system gives to connections: it has to be free again each time the server is started. */
    public static int take(SplittableRandom random) {
        return take(random, InetAddress.getLoopbackAddress());
    }

    /** The same, of an address that this machine has. */
    public static int take(SplittableRandom random, InetAddress address) {
        while (true) {
            var port = random.nextInt(FIRST, BEHIND_LAST);
            try (var _ = new ServerSocket(port, 1, address)) {
                // The same number of UDP's is a sign for others, as long as this process lives.
                GIVEN.add(new DatagramSocket(port, address));
                return port;
            } catch (IOException e) {
                // Somebody has it: the next one.
            }
        }
    }
}
