// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.AbstractHistogram;

/** One connection sends all it can, to the end; the others take turns to make a round trip of a small message. */
final class Fairness {
    private static final int COLD_SIZE = 16;
    private static final int TRIAL = 1000;
    private static final int WARMUP = 10;

    private final BenchmarkClient client;
    private final Scenario scenario;

    Fairness(BenchmarkClient client) {
        this.client = client;
        scenario = client.scenario();
    }

    ClientResult measure() throws InterruptedException {
        client.connectUpTo(scenario.connections());
        var hot = client.handlers().getFirst();
        var cold = client.handlers().subList(1, scenario.connections());
        hot.start(new Phase(Phase.Kind.TO_SERVER, scenario.size(), scenario.flush(), Phase.ENDLESS), null);
        // What is tried takes the same way as what is measured, so that it is compiled.
        var perConnection = Math.ceilDiv(TRIAL, cold.size());
        var operations = scenario.operations() > 0 ? scenario.operations()
                : Math.max(1, Math.round(perConnection * scenario.seconds() * 1e9 / run(cold, perConnection, histograms(cold))));
        run(cold, Math.ceilDiv(operations, WARMUP), histograms(cold));
        var histograms = histograms(cold);
        client.awaitStart();

        var before = client.state();
        var sentBefore = hot.sent();
        var seconds = run(cold, operations, histograms) / 1e9;
        var sent = hot.sent() - sentBefore;
        var after = client.end();
        var merged = Durations.merge(histograms);
        var figures = new EnumMap<Metric, Double>(Map.of(
                Metric.RATE, merged.getTotalCount() / seconds, Metric.HOT_RATE, sent / seconds));
        figures.putAll(Durations.figures(merged));
        return new ClientResult(new Sample(client.lanes(), client.software(), merged.getTotalCount(), seconds,
                figures, Durations.percentiles(merged), Durations.encode(merged)), before, after);
    }

    private long run(List<ClientHandler> cold, long operations, List<AbstractHistogram> histograms)
            throws InterruptedException {
        var turns = new InTurn(cold);
        return client.awaitAll(cold, i -> cold.get(i).start(new Phase(Phase.Kind.ECHO, COLD_SIZE, 1, operations),
                histograms.get(i), turns));
    }

    private static List<AbstractHistogram> histograms(List<ClientHandler> handlers) {
        return handlers.stream().map(_ -> (AbstractHistogram) Durations.newHistogram()).toList();
    }

    /** One connection after the other makes a round trip. */
    private static final class InTurn implements ClientHandler.Turns {
        private final List<ClientHandler> handlers;
        private final AtomicInteger begun = new AtomicInteger();
        /** Whose turn it is; handed on with the turn. */
        private int current;

        InTurn(List<ClientHandler> handlers) {
            this.handlers = handlers;
        }

        @Override
        public void begun(ClientHandler handler) {
            if (begun.incrementAndGet() == handlers.size()) {
                handlers.getFirst().pingFromAnywhere();
            }
        }

        @Override
        public void completed(ClientHandler handler, boolean last) {
            if (last && handler == handlers.getLast()) {
                return;
            }
            current = (current + 1) % handlers.size();
            handlers.get(current).pingFromAnywhere();
        }
    }
}
