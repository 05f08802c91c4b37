// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.ExampleFailure;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A server and a client process that live for one measurement. Each is a {@link Child}. */
final class Pair implements AutoCloseable {
    private static final long POLL_MILLIS = 50;
    /** Its end may be seen late on a busy machine. Any other failure of a client is told of so much later. */
    private static final long SERVER_END_MILLIS = 2000;

    /** Starts one of the two. */
    interface Roles {
        /**
         * @param role {@link Child#SERVER} or {@link Child#CLIENT}
         * @param cpus the processors that it may use as {@code taskset -c} takes them, or {@code null} for all
         * @param more arguments behind those that are known to whoever starts it: of a client, the server's address and
         *         process
         */
        ChildProcess start(String role, String cpus, List<String> more);
    }

    private final String name;
    private final Scenario scenario;
    private final Interruption interruption;
    private final Roles roles;
    private ChildProcess server;
    private ChildProcess client;

    private Pair(String name, Scenario scenario, Interruption interruption, Roles roles) {
        this.name = name;
        this.scenario = scenario;
        this.interruption = interruption;
        this.roles = roles;
    }

    /**
     * Blocks until that is done.
     *
     * @param name how messages speak of the two
     */
    static Sample measure(String name, Scenario scenario, Interruption interruption, Roles roles)
            throws InterruptedException {
        try (var pair = new Pair(name, scenario, interruption, roles)) {
            return pair.run();
        } catch (ExampleFailure e) {
            // Ctrl-C goes to the children too.
            interruption.check();
            throw e;
        }
    }

    private Sample run() throws InterruptedException {
        server = roles.start(Child.SERVER, scenario.serverCpus(), List.of());
        var address = await(server, Child.LISTENING, Limits.START_SECONDS);
        client = roles.start(Child.CLIENT, scenario.clientCpus(), List.of(address, Long.toString(server.pid())));
        await(client, Child.READY, Limits.ready(scenario));
        var order = scenario.work() == Work.MEMORY ? Child.TELL_CLEAN_STATE : Child.TELL_STATE;
        // The first one takes a while, in which the server's loops may look for messages: both have to load Gson for it.
        serverState(order);
        var before = serverState(order);
        client.tell(Child.GO);
        await(client, Child.OVER, Limits.measured(scenario));
        // At once, and the client keeps its connections until the server has told what they take.
        var after = serverState(order);
        var result = Json.LINE.fromJson(await(client, Child.RESULT, Limits.START_SECONDS), ClientResult.class);
        client.tell(Child.GO);
        end();
        return combine(scenario, result, before, after);
    }

    /** Nothing that goes wrong from here on makes the result wrong, but it is not to be swallowed either. */
    private void end() throws InterruptedException {
        try {
            client.awaitEnd();
            server.stop();
        } catch (ExampleFailure e) {
            interruption.check();
            System.err.println("[" + name + ", " + scenario + "] " + e.getMessage());
        }
    }

    private ProcessState serverState(String order) throws InterruptedException {
        server.tell(order);
        return Json.LINE.fromJson(await(server, Child.STATE, Limits.START_SECONDS), ProcessState.class);
    }

    private String await(ChildProcess child, String report, long seconds) throws InterruptedException {
        try {
            return await(child, report, seconds, () -> {
                interruption.check();
                if (child == client && server.endsWithin(0)) {
                    throw server.endedEarly();
                }
            });
        } catch (ExampleFailure e) {
            // A client that loses its server may notice before we do, but it does not know why.
            throw child == client && server.endsWithin(SERVER_END_MILLIS) ? server.endedEarly() : e;
        }
    }

    /** What else may happen while a report is awaited. */
    interface Watch {
        void look() throws InterruptedException;
    }

    /**
     * The rest of the next report, which has to be of that kind.
     *
     * @param watch looks now and then, and throws if there is nothing to be awaited any more
     * @throws ExampleFailure if the child tells of a failure instead, or nothing in time
     */
    static String await(ChildProcess child, String report, long seconds, Watch watch) throws InterruptedException {
        var begin = System.nanoTime();
        // Not by a deadline: the longest of all limits would be behind the end of what can be counted.
        while (System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(seconds)) {
            watch.look();
            var line = child.nextReport(POLL_MILLIS);
            if (line != null) {
                return contents(line, report);
            }
        }
        throw new ExampleFailure("no '" + report.strip() + "' came within " + seconds + " s");
    }

    private static String contents(String line, String report) {
        if (line.startsWith(report)) {
            return line.substring(report.length());
        }
        if (line.startsWith(Child.FAILURE)) {
            throw new ExampleFailure(URLDecoder.decode(line.substring(Child.FAILURE.length()), StandardCharsets.UTF_8));
        }
        throw new IllegalStateException("unexpected report '" + line + "' instead of '" + report + "'");
    }

    @Override
    public void close() {
        if (client != null) {
            client.close();
        }
        if (server != null) {
            server.close();
        }
    }

    static Sample combine(Scenario scenario, ClientResult client, ProcessState before, ProcessState after) {
        var sample = client.sample();
        return switch (scenario.work()) {
            case LATENCY, MANY, MESSAGES, MESSAGE_CALLS -> withAllocation(sample, client, before, after);
            case THROUGHPUT, BIDIRECTIONAL -> withAllocation(sample, client, before, after)
                    .with(Metric.CLIENT_CPU, (double) (client.after().loopNanos() - client.before().loopNanos())
                            / sample.operations())
                    .with(Metric.SERVER_CPU, (double) (after.loopNanos() - before.loopNanos()) / sample.operations());
            case CONNECT, FAIRNESS, START, START_AOT, FIRST_LATENCY, FIRST_THROUGHPUT, GRPC_UNARY, GRPC_STREAM, ALL_TO_ALL,
                 APPLICATIONS -> sample;
            case MEMORY -> {
                var connections = scenario.connections() - Idleness.connectionsBefore(scenario);
                var bytes = Math.max(after.memorySince(before), client.after().memorySince(client.before()));
                var fds = Math.max(after.fds() - before.fds(), client.after().fds() - client.before().fds());
                yield sample.with(Metric.PSS, bytes / 1024.0 / connections)
                        .with(Metric.FDS, (double) fds / connections);
            }
            case IDLE -> sample.with(Metric.IDLE_CPU, 100
                    * Math.max(after.cpuShareSince(before), client.after().cpuShareSince(client.before())));
        };
    }

    private static Sample withAllocation(Sample sample, ClientResult client, ProcessState before, ProcessState after) {
        return sample.with(Metric.ALLOCATION, (double) (after.loopBytes() - before.loopBytes()
                + client.after().loopBytes() - client.before().loopBytes()) / sample.operations());
    }
}
