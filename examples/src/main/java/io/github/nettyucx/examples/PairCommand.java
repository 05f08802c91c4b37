// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.List;
import java.util.function.Consumer;
import picocli.CommandLine.Option;

/**
 * The command line of an example that is a server or a client, as the user says; or else it starts processes on this
 * host that are, and compares what comes out.
 */
public abstract class PairCommand extends ExampleCommand {
    /** Set by the process that started this one: reports are for a program, and life ends with standard input. */
    public static final String CHILD_OPTION = "--child";

    @Option(names = "--server", paramLabel = "HOST:PORT",
            description = "Serve on this address until stopped; prints 'listening HOST:PORT'.")
    private HostAndPort server;

    @Option(names = CHILD_OPTION, hidden = true)
    private boolean child;

    /** A client's whole work. */
    @FunctionalInterface
    protected interface Client<R> {
        R run(Progress progress) throws InterruptedException;
    }

    /** Where to serve, or {@code null}. */
    protected final HostAndPort server() {
        return server;
    }

    @Override
    public final Integer call() throws InterruptedException {
        prepare();
        try {
            run();
            return 0;
        } catch (ExampleFailure e) {
            if (!child || isVerbose()) {
                throw e;
            }
            ChildReports.failure(e.getMessage());
            return 1;
        }
    }

    /** Rejects arguments that do not go together, and makes settings that have to come first. */
    protected abstract void prepare();

    /** Serves, measures or compares. */
    protected abstract void run() throws InterruptedException;

    /** Until the server is stopped, by a signal or by the end of the process that started this one. */
    protected final void serve(RunningServer running) throws InterruptedException {
        serve(running, running::close);
    }

    /**
     * As {@link #serve(RunningServer)}.
     *
     * @param atExit instead of closing the server, when this process ends
     */
    protected final void serve(RunningServer running, Runnable atExit) throws InterruptedException {
        try (running) {
            Runtime.getRuntime().addShutdownHook(new Thread(atExit, "stop-server"));
            if (child) {
                // Whatever that process writes asks how things are here.
                ParentProcess.onceGone(running::stop, _ -> System.err.println(running.describe()));
            }
            ChildReports.listening(running.address());
            running.awaitStop();
        }
    }

    /**
     * Runs a client and tells its result: to the process that started this one, or to the user.
     *
     * @param name what the user is told meanwhile
     * @param report tells the user what came out
     */
    protected final <R> void measure(String name, Client<R> client, Consumer<R> report) throws InterruptedException {
        if (child) {
            ParentProcess.onceGone(() -> Runtime.getRuntime().halt(1));
            ChildReports.result(client.run(new ChildReports.OfProgress()));
            return;
        }
        var progress = Progress.onTerminal();
        progress.begin(name);
        R result;
        try {
            result = client.run(progress);
        } finally {
            progress.end();
        }
        report.accept(result);
    }

    protected static <T> List<T> distinct(List<T> values) {
        return Arguments.distinct(values);
    }
}
