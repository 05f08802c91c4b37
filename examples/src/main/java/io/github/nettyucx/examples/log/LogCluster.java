// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.ChildReports;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A broker on this host, its followers, and its clients, each a process of its own. */
final class LogCluster implements AutoCloseable {
    /** As those of the benchmarks: what is measured is not the system finding memory for a heap that grows. */
    private static final List<String> JVM_OPTIONS = List.of("-XX:+UseSerialGC", "-Xms256m", "-Xmx256m",
            "-XX:+AlwaysPreTouch", "-Dio.netty.leakDetectionLevel=disabled");
    /** Beyond what a client measures, and warms up for as long. */
    private static final long RESULT_SECONDS = 120;

    private final String name;
    private final List<String> common;
    private final long resultSeconds;
    private final List<ChildProcess> followers = new ArrayList<>();
    private final ChildProcess broker;
    private final String address;

    /**
     * @param name how messages speak of it
     * @param common arguments of all processes
     * @param ofBroker of all brokers
     * @param files of the broker, and of each follower
     * @param seconds that a client measures for
     */
    LogCluster(String name, List<String> common, List<String> ofBroker, List<Path> files, int seconds)
            throws InterruptedException {
        this.name = name;
        this.common = common;
        resultSeconds = RESULT_SECONDS + 2L * seconds;
        ChildProcess leader = null;
        try {
            var addresses = new ArrayList<String>();
            for (var directory : files.subList(1, files.size())) {
                var follower = start("follower", serving(ofBroker, directory));
                followers.add(follower);
                addresses.add(ChildReports.addressOf(follower));
            }
            var leading = serving(ofBroker, files.getFirst());
            if (!addresses.isEmpty()) {
                // What is measured is never acknowledged by fewer.
                leading.addAll(List.of("--follower", String.join(",", addresses), "--min-followers",
                        Integer.toString(addresses.size())));
            }
            leader = start("broker", leading);
            address = ChildReports.addressOf(leader);
        } catch (ExampleFailure | InterruptedException e) {
            followers.forEach(ChildProcess::close);
            if (leader != null) {
                leader.close();
            }
            throw e;
        }
        broker = leader;
    }

    private static List<String> serving(List<String> ofBroker, Path directory) {
        var arguments = new ArrayList<>(List.of("--server", "127.0.0.1:0", "--directory", directory.toString()));
        arguments.addAll(ofBroker);
        return arguments;
    }

    private ChildProcess start(String role, List<String> arguments) {
        var all = new ArrayList<>(arguments);
        all.addAll(common);
        all.add(RecordLog.CHILD_OPTION);
        return ChildProcess.start("the " + name + " " + role, List.of(), JVM_OPTIONS, RecordLog.class, all,
                ChildReports::isReport);
    }

    /** Runs clients at the same time; their results, in the same order. */
    List<LogResult> run(List<List<String>> clients) throws InterruptedException {
        var started = new ArrayList<ChildProcess>();
        try {
            for (var arguments : clients) {
                var all = new ArrayList<>(List.of("--connect", address));
                all.addAll(arguments);
                started.add(start("client", all));
            }
            var results = new ArrayList<LogResult>();
            for (var client : started) {
                results.add(ChildReports.resultOf(client, LogResult.class, broker, Progress.SILENT, resultSeconds));
            }
            for (var client : started) {
                client.awaitEnd();
            }
            return results;
        } finally {
            started.forEach(ChildProcess::close);
        }
    }

    /** Has the broker end in an orderly way, and tells what it had to say. */
    void stop() throws InterruptedException {
        broker.stop();
        broker.errors().forEach(line -> System.err.println("[" + name + " broker] " + line));
    }

    @Override
    public void close() {
        broker.close();
        followers.forEach(ChildProcess::close);
    }
}
