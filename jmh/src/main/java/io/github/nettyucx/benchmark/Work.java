// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.List;
import java.util.Locale;

/** What is measured. The first metric is the one by which contenders are compared. */
enum Work {
    /** Each active connection has one message under way, to the server and back. */
    LATENCY(List.of(Metric.P50, Metric.P99, Metric.P999, Metric.RATE, Metric.ALLOCATION)),
    /** The client sends, the server counts. */
    THROUGHPUT(List.of(Metric.RATE, Metric.BANDWIDTH, Metric.ALLOCATION, Metric.CLIENT_CPU, Metric.SERVER_CPU)),
    /** Both send and count at the same time. */
    BIDIRECTIONAL(List.of(Metric.RATE, Metric.BANDWIDTH, Metric.ALLOCATION, Metric.CLIENT_CPU, Metric.SERVER_CPU)),
    /** Connections are made and closed. */
    CONNECT(List.of(Metric.RATE, Metric.P50, Metric.P99)),
    /** Connections that have been used once and are idle. */
    MEMORY(List.of(Metric.PSS, Metric.FDS)),
    /** As with {@link #MEMORY}. */
    IDLE(List.of(Metric.IDLE_CPU)),
    /** Processes start: a server, and then a client that sends one message. */
    START(List.of(Metric.LISTENING, Metric.FIRST_ECHO, Metric.RESIDENT)),
    /** The same with caches of the JDK's that earlier runs of the processes have made (JEP 514). */
    START_AOT(List.of(Metric.LISTENING, Metric.FIRST_ECHO, Metric.RESIDENT)),
    /** As {@link #LATENCY} on one connection, in the first second of two processes. */
    FIRST_LATENCY(List.of(Metric.RATE, Metric.EARLY_RATE)),
    /** As {@link #THROUGHPUT} on one connection, in the first second of two processes. */
    FIRST_THROUGHPUT(List.of(Metric.RATE, Metric.EARLY_RATE)),
    /** One connection sends all it can; the others, on the same loop, take turns to make a round trip. */
    FAIRNESS(List.of(Metric.P50, Metric.P99, Metric.P999, Metric.RATE, Metric.HOT_RATE)),
    /** As {@link #LATENCY}, among many connections that make a round trip a minute each, on the same loop. */
    MANY(List.of(Metric.P50, Metric.P99, Metric.P999, Metric.RATE)),
    /** Unary calls of gRPC on one connection, so many at a time: each that ends begins the next. */
    GRPC_UNARY(List.of(Metric.RATE, Metric.P50, Metric.P99, Metric.P999)),
    /** Bidirectional streams of gRPC on one connection, so many at a time: each has one message under way. */
    GRPC_STREAM(List.of(Metric.RATE, Metric.P50, Metric.P99, Metric.P999)),
    /** Threads of the application send messages to one peer, all they can. */
    MESSAGES(List.of(Metric.RATE, Metric.BANDWIDTH, Metric.ALLOCATION)),
    /** Threads of the application make calls to one peer, each one after the other. */
    MESSAGE_CALLS(List.of(Metric.P50, Metric.P99, Metric.P999, Metric.RATE, Metric.ALLOCATION)),
    /** Threads of several nodes send messages to all other nodes, all they can. */
    ALL_TO_ALL(List.of(Metric.RATE, Metric.BANDWIDTH, Metric.ALLOCATION)),
    /** An application of several processes writes and then reads; it has the agent or its own transport. */
    APPLICATIONS(List.of(Metric.RATE, Metric.READ_RATE));

    private final List<Metric> metrics;

    Work(List<Metric> metrics) {
        this.metrics = metrics;
    }

    List<Metric> metrics() {
        return metrics;
    }

    /** Whether these are calls of gRPC. */
    boolean isOfCalls() {
        return this == GRPC_UNARY || this == GRPC_STREAM;
    }

    /** Whether threads of an application send. */
    boolean isOfMessaging() {
        return this == MESSAGES || this == MESSAGE_CALLS || this == ALL_TO_ALL;
    }

    /** Whether processes start. */
    boolean isOfStarts() {
        return this == START || this == START_AOT;
    }

    /** Whether processes work from their first message on. */
    boolean isOfFirstSeconds() {
        return this == FIRST_LATENCY || this == FIRST_THROUGHPUT;
    }

    /** Whether each active connection makes one round trip after the other. */
    boolean isOfRoundTrips() {
        return this == LATENCY || this == MANY || this == FIRST_LATENCY;
    }

    Metric headline() {
        return metrics.getFirst();
    }

    /** By which contenders are compared: the headline, and where that is a median of durations, their tails as well. */
    List<Metric> compared() {
        return headline() == Metric.P50 ? List.of(Metric.P50, Metric.P99, Metric.P999)
                : isOfStarts() || isOfFirstSeconds() ? metrics : List.of(headline());
    }

    /** The name by which the command line knows it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
