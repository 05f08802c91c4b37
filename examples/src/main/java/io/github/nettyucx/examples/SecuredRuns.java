// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A comparison on this host: a server and a client for one transport after the other, without TLS and with it.
 *
 * @param main of the processes
 * @param cases in the order in which they are run
 */
public record SecuredRuns<T>(Class<?> main, List<Case<T>> cases) {
    private static final String ANY_LOCAL_PORT = "127.0.0.1:0";

    /** What one server and one client are told. */
    public record Case<T>(T transport, Security security) {
        @Override
        public String toString() {
            return transport + " " + security;
        }
    }

    /** Arguments of two processes. */
    public record Task(List<String> ofBoth, List<String> ofClient) {
    }

    /**
     * @param tasks what the user asks for, of a transport's processes
     * @param type of what each client reports
     * @param report is given the results: all of them, or what there is before a failure is told
     * @throws ExampleFailure if a process gave up
     */
    public <R> void run(Function<T, Task> tasks, Class<R[]> type, Consumer<List<R>> report) throws InterruptedException {
        var results = new ArrayList<R>();
        var secured = cases.stream().anyMatch(it -> it.security() == Security.TLS);
        try (var own = secured ? SelfSignedCertificate.create() : null) {
            var progress = Progress.onTerminal();
            for (var i = 0; i < cases.size(); i++) {
                var each = cases.get(i);
                progress.begin(each + " (" + (i + 1) + " of " + cases.size() + ")");
                try {
                    results.addAll(List.of(run(each, tasks.apply(each.transport()), type, own, progress)));
                } finally {
                    progress.end();
                }
            }
        } catch (ExampleFailure e) {
            if (!results.isEmpty()) {
                report.accept(results);
            }
            throw e;
        }
        report.accept(results);
    }

    private <R> R run(Case<T> each, Task task, Class<R> type, SelfSignedCertificate own, Progress progress)
            throws InterruptedException {
        var server = new ArrayList<>(List.of("--server", ANY_LOCAL_PORT));
        var client = new ArrayList<>(task.ofClient());
        if (each.security() == Security.TLS) {
            server.addAll(List.of("--cert", own.certificate().toString(), "--key", own.key().toString()));
            client.addAll(List.of("--trust", own.certificate().toString()));
        }
        for (var arguments : List.of(server, client)) {
            arguments.addAll(List.of("--transport", each.transport().toString(), PairCommand.CHILD_OPTION));
            arguments.addAll(task.ofBoth());
        }
        return new LocalPair(each.toString(), main, progress).run(type, server, address -> {
            client.addAll(List.of("--connect", address));
            return client;
        });
    }
}
