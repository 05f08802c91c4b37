// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Setting;
import io.github.nettyucx.examples.TransportKind;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One of Netty's transports, in a server and a client process that live for one measurement.
 *
 * @param client the server's own transport, or another: what a server of this transport does for ordinary TCP clients
 */
record NettyContender(Setting server, Setting client) implements Contender {
    private static final long START_SECONDS = 60;
    /** Beyond what the measurement itself should take. */
    private static final long MEASURE_SECONDS = 120;
    private static final long POLL_MILLIS = 50;
    private static final long SERVER_END_MILLIS = 1000;
    /** The heap's pages are touched at the start, so that a growing heap does not look like memory of connections. */
    static final List<String> JVM_OPTIONS = List.of("-XX:+UseSerialGC", "-Xms512m", "-Xmx512m", "-Xmn256m",
            "-XX:+AlwaysPreTouch", "-Dio.netty.leakDetectionLevel=disabled");

    NettyContender(Setting setting) {
        this(setting, setting);
    }

    @Override
    public String name() {
        return (client.equals(server) ? "" : client.transport() + " to ") + server.transport();
    }

    @Override
    public String lane() {
        return client.transport() == TransportKind.UCX ? client.lane().toString() : "-";
    }

    @Override
    public String waitMode() {
        return server.waitMode() == null ? "-" : server.waitMode().toString();
    }

    @Override
    public Sample measure(Scenario scenario, Interruption interruption) throws InterruptedException {
        if (scenario.work() == Work.START) {
            return new Starts(server, client, scenario, interruption).measure();
        }
        var pair = new Pair(this, scenario, interruption);
        try {
            return pair.run();
        } catch (ExampleFailure e) {
            // Ctrl-C goes to the children too.
            interruption.check();
            throw e;
        } finally {
            pair.close();
        }
    }

    private static final class Pair implements AutoCloseable {
        private final NettyContender contender;
        private final Scenario scenario;
        private final Interruption interruption;
        private ChildProcess server;
        private ChildProcess client;

        Pair(NettyContender contender, Scenario scenario, Interruption interruption) {
            this.contender = contender;
            this.scenario = scenario;
            this.interruption = interruption;
        }

        Sample run() throws InterruptedException {
            server = start(Child.SERVER, scenario.serverCpus(), List.of());
            var address = await(server, Child.LISTENING, START_SECONDS);
            client = start(Child.CLIENT, scenario.clientCpus(), List.of(address, Long.toString(server.pid())));
            await(client, Child.READY, START_SECONDS + MEASURE_SECONDS);
            var order = scenario.work() == Work.MEMORY ? Child.TELL_CLEAN_STATE : Child.TELL_STATE;
            var before = serverState(order);
            client.tell(Child.GO);
            var result = Json.LINE.fromJson(await(client, Child.RESULT,
                    MEASURE_SECONDS + (long) (10 * scenario.seconds())), ClientResult.class);
            // The client keeps its connections until the server has told what they take.
            var after = serverState(order);
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
                System.err.println("[" + contender.name() + ", " + scenario + "] " + e.getMessage());
            }
        }

        private ChildProcess start(String role, String cpus, List<String> more) {
            var setting = role.equals(Child.SERVER) ? contender.server : contender.client;
            var arguments = new ArrayList<>(List.of(role, Json.LINE.toJson(new Task(scenario, setting))));
            arguments.addAll(more);
            return ChildProcess.start("the " + setting + " " + role,
                    cpus == null ? List.of() : List.of("taskset", "-c", cpus), JVM_OPTIONS, Child.class, arguments,
                    Child::isReport);
        }

        private ProcessState serverState(String order) throws InterruptedException {
            server.tell(order);
            return Json.LINE.fromJson(await(server, Child.STATE, START_SECONDS), ProcessState.class);
        }

        /** The rest of the next report, which has to be of that kind. */
        private String await(ChildProcess child, String report, long seconds) throws InterruptedException {
            var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
            while (System.nanoTime() < deadline) {
                interruption.check();
                if (child == client && server.endsWithin(0)) {
                    throw server.endedEarly();
                }
                var line = child.nextReport(POLL_MILLIS);
                if (line == null) {
                    continue;
                }
                if (line.startsWith(report)) {
                    return line.substring(report.length());
                }
                if (line.startsWith(Child.FAILURE)) {
                    // A client that loses its server may notice before we do, but it does not know why.
                    throw child == client && server.endsWithin(SERVER_END_MILLIS) ? server.endedEarly()
                            : new ExampleFailure(URLDecoder.decode(line.substring(Child.FAILURE.length()),
                                    StandardCharsets.UTF_8));
                }
                throw new IllegalStateException("unexpected report '" + line + "' instead of '" + report + "'");
            }
            throw new ExampleFailure("no '" + report.strip() + "' came within " + seconds + " s");
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
    }

    static Sample combine(Scenario scenario, ClientResult client, ProcessState before, ProcessState after) {
        var sample = client.sample();
        return switch (scenario.work()) {
            case LATENCY, THROUGHPUT, BIDIRECTIONAL, MANY -> sample.with(Metric.ALLOCATION,
                    (double) (after.loopBytes() - before.loopBytes()
                            + client.after().loopBytes() - client.before().loopBytes()) / sample.operations());
            case CONNECT, FAIRNESS, START -> sample;
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
}
