// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.Checks;
import io.github.nettyucx.examples.Checks.Check;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Progress;
import java.util.ArrayList;
import java.util.List;

/** Asks a server of {@link CheckFiles} for everything there is to ask, and looks at all that comes back. */
final class HttpChecks {
    private HttpChecks() {
    }

    /** What is checked of a protocol, in words. */
    static List<String> names(HttpProtocol protocol) {
        return Checks.names(all(null, null, protocol, 0));
    }

    private static List<Check> all(ClientConnections connections, HttpConnection connection, HttpProtocol protocol,
                                   long bigSize) {
        var checks = new ArrayList<>(new FileChecks(connection, protocol, bigSize).checks());
        checks.addAll(new WebSocketChecks(connections).checks());
        checks.addAll(new OrdinaryClient(connections == null ? null : connections.target()).checks());
        return checks;
    }

    /**
     * Runs all checks, those of files but the last over one connection.
     *
     * @param bigSize bytes of the server's {@link CheckFiles#BIG}
     * @throws ExampleFailure if one finds something that is not as it should be
     */
    static void run(ClientConnections connections, HttpConnection connection, long bigSize, Progress progress)
            throws InterruptedException {
        var checks = all(connections, connection, connections.target().protocol(), bigSize);
        Checks.run(checks, " of " + connections.target().protocol().title(), progress);
    }
}
