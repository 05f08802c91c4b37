// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.SplittableRandom;

/** A port for a server that is told its own. */
final class FreePort {
    private static final int FIRST = 10_000;
    private static final int BEHIND_LAST = 30_000;

    private FreePort() {
    }

    /** Below those that the system gives to connections: it has to be free again each time the server is started. */
    static int take(SplittableRandom random) {
        while (true) {
            var port = random.nextInt(FIRST, BEHIND_LAST);
            try (var _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return port;
            } catch (IOException e) {
                // Somebody has it: the next one.
            }
        }
    }
}
