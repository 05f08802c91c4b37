// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.aeron.AeronVersion;
import io.aeron.logbuffer.FragmentHandler;
import io.github.nettyucx.examples.ExampleFailure;
import java.util.EnumMap;
import java.util.Map;
import org.HdrHistogram.AbstractHistogram;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Sends to an {@link AeronServer}, and waits for it without a pause. All of this is done by the one thread that has made
 * it. That the server is gone is noticed by the parent of both.
 */
final class AeronClient implements MeasuredClient {
    private final Scenario scenario;
    private final Compilers compilers;
    private final Barrier barrier;
    private final AeronStreams streams;
    private final UnsafeBuffer message;
    private final FragmentHandler replies = (_, _, length, _) -> arrived(length);
    private final long[] threads = {Thread.currentThread().threadId()};
    /** Messages that have come since the start. */
    private long received;
    private int expectedLength;

    /** @param serverPid the server's process */
    AeronClient(String directory, Scenario scenario, long serverPid, Barrier barrier) {
        this.scenario = scenario;
        this.barrier = barrier;
        compilers = new Compilers(ProcessHandle.current().pid(), serverPid);
        message = new UnsafeBuffer(new byte[scenario.size()]);
        streams = AeronStreams.ofClient(directory);
    }

    @Override
    public ClientResult measure() throws InterruptedException {
        streams.awaitConnected();
        var operations = Calibration.warmUp(scenario, compilers, count -> run(count, Durations.newHistogram()));
        var histogram = Durations.newHistogram();
        barrier.await();

        var before = ProcessState.now(threads);
        var seconds = run(operations, histogram) / 1e9;
        barrier.over();
        var after = ProcessState.now(threads);
        var rate = operations / seconds;
        var figures = new EnumMap<Metric, Double>(Map.of(Metric.RATE, rate));
        var software = "Aeron " + AeronVersion.VERSION;
        if (scenario.work() == Work.LATENCY) {
            figures.putAll(Durations.figures(histogram));
            return new ClientResult(new Sample("ipc", software, operations, seconds, figures,
                    Durations.percentiles(histogram), Durations.encode(histogram)), before, after);
        }
        figures.put(Metric.BANDWIDTH, rate * scenario.size() / 1e9);
        return new ClientResult(new Sample("ipc", software, operations, seconds, figures, null, null), before, after);
    }

    /** @return how long that many messages took, in nanoseconds */
    private long run(long count, AbstractHistogram histogram) {
        var begin = System.nanoTime();
        if (scenario.work() == Work.LATENCY) {
            streams.announce(new Phase(Phase.Kind.ECHO, scenario.size(), 1, count));
            for (var i = 0L; i < count; i++) {
                var sentAt = System.nanoTime();
                streams.send(message, 0, scenario.size());
                awaitReply(scenario.size());
                Durations.record(histogram, System.nanoTime() - sentAt);
            }
        } else {
            streams.announce(new Phase(Phase.Kind.TO_SERVER, scenario.size(), 1, count));
            for (var i = 0L; i < count; i++) {
                streams.send(message, 0, scenario.size());
            }
            awaitReply(Phase.ACKNOWLEDGEMENT);
        }
        return System.nanoTime() - begin;
    }

    private void awaitReply(int length) {
        expectedLength = length;
        var before = received;
        while (received == before) {
            streams.receive(replies);
        }
    }

    private void arrived(int length) {
        if (length != expectedLength) {
            throw new ExampleFailure(length + " bytes came instead of " + expectedLength);
        }
        received++;
    }

    @Override
    public void close() {
        streams.close();
    }
}
