// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Connections that have been used once and are idle: how much memory they take, or processor time. */
final class Idleness {
    /** Until timers, compilers and the other side have come to rest. */
    private static final long SETTLE_MILLIS = 1000;
    /** The JIT compilers go on for seconds after so many connections: that is not what idle connections take. */
    private static final long COMPILED_MILLIS = 30_000;
    private static final double COMPILERS_REST = 0.005;

    private final BenchmarkClient client;
    private final Scenario scenario;

    Idleness(BenchmarkClient client) {
        this.client = client;
        scenario = client.scenario();
    }

    ClientResult measure() throws InterruptedException {
        return scenario.work() == Work.MEMORY ? memory() : idle();
    }

    /** How many connections there are before the first look at the memory: what the first one costs, it costs once. */
    static int connectionsBefore(Scenario scenario) {
        return scenario.connections() == 1 ? 0 : 1;
    }

    private ClientResult memory() throws InterruptedException {
        if (connectionsBefore(scenario) > 0) {
            client.connectUpTo(connectionsBefore(scenario));
        }
        // Nothing tells when UCX has changed its lanes and the JVM has compiled: these are measurements of a still process.
        Thread.sleep(SETTLE_MILLIS);
        client.awaitStart();
        ProcessState.collectGarbage();
        var before = client.state();
        client.connectUpTo(scenario.connections());
        Thread.sleep(SETTLE_MILLIS);
        ProcessState.collectGarbage();
        return result(before, client.end());
    }

    private ClientResult idle() throws InterruptedException {
        client.connectUpTo(scenario.connections());
        awaitCompilers();
        client.awaitStart();
        var before = client.state();
        // What the idle processes do meanwhile is what is measured.
        Thread.sleep(Math.round(scenario.seconds() * 1000));
        return result(before, client.end());
    }

    private void awaitCompilers() throws InterruptedException {
        var deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(COMPILED_MILLIS);
        boolean rest;
        do {
            var before = client.compilers().nanos();
            // What they take in this time is what is asked.
            Thread.sleep(2 * SETTLE_MILLIS);
            var share = (client.compilers().nanos() - before) / (2e6 * SETTLE_MILLIS);
            rest = share <= COMPILERS_REST;
        } while (!rest && System.nanoTime() - deadline < 0);
    }

    private ClientResult result(ProcessState before, ProcessState after) {
        return new ClientResult(new Sample(client.lanes(), client.software(), scenario.connections(),
                (after.nanoTime() - before.nanoTime()) / 1e9, Map.of(), null, null), before, after);
    }
}
