// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.ByteSize;
import io.github.nettyucx.examples.Security;
import java.util.Locale;

/**
 * What is asked of a contender.
 *
 * @param size of a message, in bytes; of fairness: of the messages of the one that sends all it can
 * @param connections how many there are; of connect: how many are made at the same time; of all to all: how many nodes;
 *         of applications: how many servers
 * @param active how many of them are in use, of latency; of many: how many are busy; of gRPC: how many calls are under way
 *         at the same time; of messaging: how many threads send, or have one call under way, in each node that does; of
 *         applications: how many requests are under way
 * @param loops event loops on each side
 * @param flush messages that are written between two flushes
 * @param receiveBuffer {@code SO_RCVBUF} of all connections in bytes, or 0 for what the transport chooses
 * @param operations on each active connection; 0 for as many as take {@code seconds}
 * @param seconds how long a measurement is to take, if {@code operations} is 0
 * @param serverCpus the processors of the server as {@code taskset -c} takes them, or {@code null} for all
 * @param clientCpus likewise of the client
 * @param security whether connections have TLS, of all works but {@linkplain Work#isOfStarts starts} and
 *         {@linkplain Work#isOfFirstSeconds first seconds}
 * @param executor of gRPC, and {@code null} of other works
 */
record Scenario(Work work, int size, int connections, int active, int loops, int flush,
                int receiveBuffer, long operations, double seconds, String serverCpus, String clientCpus,
                Security security, CallExecutor executor) {

    /** Without TLS, and not of gRPC. */
    Scenario(Work work, int size, int connections, int active, int loops, int flush, int receiveBuffer, long operations,
             double seconds, String serverCpus, String clientCpus) {
        this(work, size, connections, active, loops, flush, receiveBuffer, operations, seconds, serverCpus, clientCpus,
                Security.PLAINTEXT, null);
    }

    Scenario with(Security other) {
        return new Scenario(work, size, connections, active, loops, flush, receiveBuffer, operations, seconds, serverCpus,
                clientCpus, other, executor);
    }

    Scenario of(Work other) {
        return new Scenario(other, size, connections, active, loops, flush, receiveBuffer, operations, seconds, serverCpus,
                clientCpus, security, executor);
    }

    Scenario with(CallExecutor other) {
        return new Scenario(work, size, connections, active, loops, flush, receiveBuffer, operations, seconds, serverCpus,
                clientCpus, security, other);
    }

    boolean isPlain() {
        return security == Security.PLAINTEXT;
    }

    /** How many messages are written between two flushes: the published benchmarks' choice, for their three sizes. */
    static int defaultFlush(int size) {
        if (size < 1024) {
            return 64;
        }
        return size < 64 * 1024 ? 16 : 4;
    }

    boolean isPinned() {
        return serverCpus != null;
    }

    String pinning() {
        return isPinned() ? serverCpus + ":" + clientCpus : "none";
    }

    /** For a person; tells apart the scenarios of one run. */
    @Override
    public String toString() {
        var text = new StringBuilder(work.toString());
        switch (work) {
            case LATENCY, FIRST_LATENCY, FAIRNESS, MANY, GRPC_UNARY, GRPC_STREAM, MESSAGES,
                 MESSAGE_CALLS, ALL_TO_ALL, APPLICATIONS ->
                    text.append(' ').append(new ByteSize(size));
            case THROUGHPUT, FIRST_THROUGHPUT, BIDIRECTIONAL ->
                    text.append(' ').append(new ByteSize(size)).append(" flush ").append(flush);
            case CONNECT, MEMORY, IDLE, START, START_AOT -> { }
        }
        if (work.isOfCalls()) {
            text.append(String.format(Locale.ROOT, ", %,d at a time, %s executor", active, executor));
        } else if (work == Work.APPLICATIONS) {
            text.append(", ").append(connections).append(" servers, ").append(active).append(" at a time");
        } else if (work.isOfMessaging()) {
            if (work == Work.ALL_TO_ALL) {
                text.append(", ").append(connections).append(" nodes");
            }
            text.append(String.format(Locale.ROOT, ", %,d thread%s", active, active == 1 ? "" : "s"));
        } else {
            text.append(String.format(Locale.ROOT, ", %,d connection%s", connections, connections == 1 ? "" : "s"));
            if (active != connections && work != Work.MANY) {
                text.append(", ").append(active).append(" active");
            }
        }
        if (loops > 1) {
            text.append(", ").append(loops).append(" loops");
        }
        if (!isPlain()) {
            text.append(", ").append(security);
        }
        if (receiveBuffer > 0) {
            text.append(", SO_RCVBUF ").append(new ByteSize(receiveBuffer));
        }
        return text.append(isPinned() ? ", pinned " + pinning() : "").toString();
    }
}
