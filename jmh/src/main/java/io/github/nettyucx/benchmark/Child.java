// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.ParentProcess;
import io.netty.util.internal.OutOfDirectMemoryError;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;
import java.util.logging.Level;
import java.util.logging.Logger;

/** A server or client process of one measurement: reports on standard output, and is told on standard input. */
final class Child {
    static final String SERVER = "server";
    static final String CLIENT = "client";

    // Reports.
    static final String LISTENING = "listening ";
    static final String READY = "ready";
    /** Of a client: what is measured is over. The result follows. */
    static final String OVER = "over";
    static final String RESULT = "result ";
    static final String STATE = "state ";
    static final String FAILURE = "failure ";

    // Orders.
    /** To a server: report the state of the process. */
    static final String TELL_STATE = "state";
    /** As {@link #TELL_STATE}, after a garbage collection. */
    static final String TELL_CLEAN_STATE = "clean-state";
    /** To a client that is ready: measure. To one that has reported the result: disconnect, and end. */
    static final String GO = "go";

    private static final long MEBIBYTE = 1 << 20;

    /** What a child process does. */
    interface Body {
        void run() throws Exception;
    }

    /** Starts a client. */
    interface ClientSource {
        MeasuredClient start(MeasuredClient.Barrier barrier) throws Exception;
    }

    private Child() {
    }

    static boolean isReport(String line) {
        return line.startsWith(LISTENING) || line.equals(READY) || line.equals(OVER) || line.startsWith(RESULT)
                || line.startsWith(STATE) || line.startsWith(FAILURE);
    }

    /**
     * @param args the role, the task as JSON, and for a client the server's address and process
     */
    public static void main(String[] args) {
        run(() -> {
            var task = Json.LINE.fromJson(args[1], Task.class);
            task.setting().apply();
            task.setting().transport().ensureAvailable();
            if (args[0].equals(SERVER)) {
                serve(task);
            } else {
                measure(barrier -> client(task, HostAndPort.parse(args[2]), Long.parseLong(args[3]), barrier));
            }
        });
    }

    private static MeasuredClient client(Task task, HostAndPort server, long serverPid, MeasuredClient.Barrier barrier)
            throws InterruptedException {
        return task.scenario().work().isOfCalls() ? new CallClient(task, server, serverPid, barrier)
                : new BenchmarkClient(task, server, serverPid, barrier);
    }

    /**
     * Runs what a child process does, tells its parent if that fails, and ends the process.
     */
    static void run(Body body) {
        // What is worth a user's attention passes, the version of a library does not.
        Logger.getLogger("io.github.nettyucx").setLevel(Level.WARNING);
        var exitCode = 1;
        try {
            body.run();
            exitCode = 0;
        } catch (Throwable t) {
            System.out.println(FAILURE + URLEncoder.encode(explanation(t), StandardCharsets.UTF_8));
            t.printStackTrace();
        } finally {
            System.exit(exitCode);
        }
    }

    /** As for all, but that the heap of these processes is none that a user can make larger. */
    static String explanation(Throwable failure) {
        for (var at = failure; at != null; at = at.getCause()) {
            if (at instanceof OutOfMemoryError && !(at instanceof OutOfDirectMemoryError)) {
                return "not enough memory (" + at.getMessage() + "); use fewer connections or smaller messages. This process "
                        + "always has a heap of " + Runtime.getRuntime().maxMemory() / MEBIBYTE
                        + " MiB: -Xmx does not change that";
            }
        }
        return Explanation.of(failure);
    }

    private static void serve(Task task) throws Exception {
        if (task.scenario().work().isOfCalls()) {
            var server = CallServer.start(task);
            serve(server, server.address().toString());
        } else {
            var server = BenchmarkServer.start(task);
            serve(server, server.address().toString());
        }
    }

    /** Until the parent wants it to end, or is gone. */
    static void serve(MeasuredServer started, String address) throws InterruptedException {
        try (var server = started) {
            ParentProcess.onceGone(server::stop, order -> {
                if (order.equals(TELL_CLEAN_STATE)) {
                    ProcessState.collectGarbage();
                }
                System.out.println(STATE + Json.LINE.toJson(server.state()));
            });
            System.out.println(LISTENING + address);
            server.awaitStop();
        }
    }

    /** Measures once, and ends when the parent has taken the result. */
    static void measure(ClientSource source) throws Exception {
        var go = new Semaphore(0);
        ParentProcess.onceGone(() -> Runtime.getRuntime().halt(1), _ -> go.release());
        try (var client = source.start(new MeasuredClient.Barrier() {
            @Override
            public void await() throws InterruptedException {
                System.out.println(READY);
                go.acquire();
            }

            @Override
            public void over() {
                System.out.println(OVER);
            }
        })) {
            System.out.println(RESULT + Json.LINE.toJson(client.measure()));
            go.acquire();
        }
    }
}
