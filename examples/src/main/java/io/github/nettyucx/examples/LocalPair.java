// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.List;
import java.util.function.Function;

/**
 * A server and a client of one example, as two processes on this host: what one leaves behind in memory, or in the
 * JIT's profile, does not touch the next.
 */
public final class LocalPair {
    private final String name;
    private final Class<?> main;
    private final Progress progress;

    /**
     * @param name how messages speak of the pair, for example {@code nio}
     * @param main of both processes
     * @param progress is told what the client reports
     */
    public LocalPair(String name, Class<?> main, Progress progress) {
        this.name = name;
        this.main = main;
        this.progress = progress;
    }

    /**
     * Starts both, and waits until the client is done and both have ended.
     *
     * @param type of the client's result
     * @param clientArguments makes them from the server's address
     * @return the client's result
     * @throws ExampleFailure if one of the two gave up, or ended before its time
     */
    public <R> R run(Class<R> type, List<String> serverArguments, Function<String, List<String>> clientArguments)
            throws InterruptedException {
        try (var server = start("server", serverArguments)) {
            var address = ChildReports.addressOf(server);
            try (var client = start("client", clientArguments.apply(address))) {
                var result = ChildReports.resultOf(client, type, server, progress, Long.MAX_VALUE);
                client.awaitEnd();
                server.stop();
                progress.end();
                tell("server", server);
                tell("client", client);
                return result;
            }
        }
    }

    private ChildProcess start(String role, List<String> arguments) {
        return ChildProcess.start("the " + name + " " + role, main, arguments, ChildReports::isReport);
    }

    /** Warnings are no failure, but they are not to be swallowed either. */
    private void tell(String role, ChildProcess child) {
        child.errors().forEach(line -> System.err.println("[" + name + " " + role + "] " + line));
    }
}
