// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ChildProcess;
import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Starts a server and then a client, a number of times, and says what that took in the middle. */
final class Starts {
    /** As users have it, but for the heap, of which a JVM takes the more the more memory a machine has. */
    private static final List<String> JVM_OPTIONS = List.of("-Xmx256m");
    private static final int TIMES = 5;
    private static final long SECONDS = 60;
    /** For the JVM to write a cache, which takes both processors for some seconds. */
    private static final long CACHE_SECONDS = 120;
    private static final long POLL_MILLIS = 100;

    private final Setting server;
    private final Setting client;
    private final Scenario scenario;
    private final Interruption interruption;

    Starts(Setting server, Setting client, Scenario scenario, Interruption interruption) {
        this.server = server;
        this.client = client;
        this.scenario = scenario;
        this.interruption = interruption;
    }

    Sample measure() throws InterruptedException {
        if (scenario.work() == Work.START) {
            return measure(List.of(), List.of());
        }
        try (var caches = AotCaches.create()) {
            try (var serving = start(Starter.SERVER, server, null, caches.making(Starter.SERVER), List.of());
                 var asking = start(Starter.CLIENT, client, null, caches.making(Starter.CLIENT),
                         List.of(await(serving, Starter.LISTENING)))) {
                await(asking, Starter.ECHOED);
                asking.stop(CACHE_SECONDS);
                serving.stop(CACHE_SECONDS);
            }
            return measure(caches.using(Starter.SERVER), caches.using(Starter.CLIENT));
        }
    }

    private Sample measure(List<String> serverOptions, List<String> clientOptions) throws InterruptedException {
        var listening = new ArrayList<Double>();
        var echoed = new ArrayList<Double>();
        var resident = new ArrayList<Double>();
        var lane = "none";
        for (var i = 0; i < TIMES; i++) {
            var begin = System.nanoTime();
            try (var serving = start(Starter.SERVER, server, scenario.serverCpus(), serverOptions, List.of())) {
                var port = await(serving, Starter.LISTENING);
                listening.add(millisSince(begin));
                begin = System.nanoTime();
                try (var asking = start(Starter.CLIENT, client, scenario.clientCpus(), clientOptions,
                        List.of(port))) {
                    lane = await(asking, Starter.ECHOED);
                    echoed.add(millisSince(begin));
                    resident.add(residentMebibytes(serving.pid()));
                    asking.stop();
                }
                serving.stop();
            }
        }
        var figures = new EnumMap<Metric, Double>(Metric.class);
        figures.put(Metric.LISTENING, Spread.of(listening).orElseThrow().median());
        figures.put(Metric.FIRST_ECHO, Spread.of(echoed).orElseThrow().median());
        figures.put(Metric.RESIDENT, Spread.of(resident).orElseThrow().median());
        return new Sample(lane, server.transport().software(), TIMES, 0, figures, null, null);
    }

    private static double millisSince(long nanoTime) {
        return (System.nanoTime() - nanoTime) / 1e6;
    }

    private static ChildProcess start(String role, Setting setting, String cpus, List<String> jvmOptions,
                                      List<String> more) {
        var options = new ArrayList<>(JVM_OPTIONS);
        options.addAll(jvmOptions);
        var arguments = new ArrayList<>(Starter.arguments(role, setting));
        arguments.addAll(more);
        return ChildProcess.start("the " + setting + " " + role,
                cpus == null ? List.of() : List.of("taskset", "-c", cpus), options, Starter.class, arguments,
                Starter::isReport);
    }

    /** The rest of the report. */
    private String await(ChildProcess child, String report) throws InterruptedException {
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (System.nanoTime() < deadline) {
            interruption.check();
            var line = child.nextReport(POLL_MILLIS);
            if (line != null) {
                return line.substring(report.length());
            }
        }
        throw new ExampleFailure("no '" + report.strip() + "' came within " + SECONDS + " s");
    }

    private static double residentMebibytes(long pid) {
        try (var lines = Files.lines(Path.of("/proc/" + pid + "/status"))) {
            return lines.filter(line -> line.startsWith("VmRSS:")).findFirst()
                    .map(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024.0).orElseThrow();
        } catch (IOException e) {
            throw new ExampleFailure("cannot read the memory of process " + pid + ": " + e.getMessage(), e);
        }
    }
}
