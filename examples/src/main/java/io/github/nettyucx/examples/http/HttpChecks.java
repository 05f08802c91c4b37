// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.http;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Progress;
import java.util.ArrayList;
import java.util.List;

/** Asks a server of {@link CheckFiles} for everything there is to ask, and looks at all that comes back. */
final class HttpChecks {
    interface Action {
        void run() throws InterruptedException;
    }

    record Check(String name, Action action) {
    }

    private HttpChecks() {
    }

    /** What is checked of a protocol, in words. */
    static List<String> names(HttpProtocol protocol) {
        return all(null, null, protocol, 0).stream().map(Check::name).toList();
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
        for (var i = 0; i < checks.size(); i++) {
            progress.at((double) i / checks.size());
            run(checks.get(i), connections.target().protocol());
        }
    }

    private static void run(Check check, HttpProtocol protocol) throws InterruptedException {
        try {
            check.action.run();
        } catch (ExampleFailure e) {
            throw new ExampleFailure("the check '" + check.name + "' of " + protocol.title() + " failed: "
                    + e.getMessage(), e);
        }
    }

    static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new ExampleFailure(otherwise);
        }
    }

    static void requireEqual(Object expected, Object found, String what) {
        require(expected.equals(found), what + ": expected " + expected + ", found " + found);
    }
}
