// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.ExampleFailure;
import io.github.nettyucx.examples.Explanation;
import io.github.nettyucx.examples.HostAndPort;
import io.github.nettyucx.examples.TransportKind;
import io.github.nettyucx.examples.log.protocol.Message;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A connection to whichever of several brokers leads, and to the next one when that ends. Numbers of partitions are each
 * broker's own: open topics anew on a new connection. For one thread.
 */
public final class LeaderConnection implements AutoCloseable {
    /** Nothing tells when a leader has been chosen: one asks so often. */
    private static final long RETRY_MILLIS = 100;
    /** A broker that is stopped accepts connections, and says nothing. */
    private static final long ANSWER_SECONDS = 3;

    private final TransportKind transport;
    private final List<HostAndPort> brokers;
    private final Duration patience;
    /** {@code null} before the first. */
    private LogConnection connection;
    private HostAndPort address;
    private long epoch;
    /** With each broker, the last time that it was asked. */
    private final Map<HostAndPort, String> problems = new LinkedHashMap<>();

    /**
     * @param brokers some of the cluster, or all
     * @param patience how long it may take to find a leader. Brokers that are being asked when it is over are waited for,
     *                 each for as long at most to connect, and for 3 s to answer
     */
    public LeaderConnection(TransportKind transport, List<HostAndPort> brokers, Duration patience) {
        this.transport = transport;
        this.brokers = List.copyOf(brokers);
        this.patience = patience;
    }

    /**
     * The connection that there is, or one to the present leader if it has ended. That a broker is gone is known a little
     * later: what fails then is to be done again with the next connection.
     *
     * @throws ExampleFailure if no leader is found in time
     */
    public LogConnection get() throws InterruptedException {
        if (connection != null && connection.isOpen()) {
            return connection;
        }
        close();
        problems.clear();
        var deadline = System.nanoTime() + patience.toNanos();
        while (!findOnce(deadline)) {
            if (System.nanoTime() - deadline > 0) {
                throw new ExampleFailure("none of the brokers " + brokers + " leads, nor knows who does, for "
                        + patience.toMillis() + " ms: " + String.join("; ", problems.values())
                        + ". Look whether more than half of them are running.");
            }
            Thread.sleep(RETRY_MILLIS);
        }
        return connection;
    }

    /** Of the broker that the last connection went to. */
    public HostAndPort address() {
        return address;
    }

    /** Of its leadership. */
    public long epoch() {
        return epoch;
    }

    /** Asks all of them, and those that they name first, who can name others. */
    private boolean findOnce(long deadline) throws InterruptedException {
        var left = new ArrayDeque<>(brokers);
        var asked = new HashSet<HostAndPort>();
        while (!left.isEmpty()) {
            var next = left.pollFirst();
            if (!asked.add(next)) {
                continue;
            }
            if (asked.size() > brokers.size() && System.nanoTime() - deadline > 0) {
                return false;
            }
            var named = tryOne(next);
            if (connection != null) {
                return true;
            }
            if (named.isPresent()) {
                left.addFirst(named.get());
            }
        }
        return false;
    }

    /** Sets the connection if the broker leads. @return who does otherwise, as far as it knows */
    private Optional<HostAndPort> tryOne(HostAndPort broker) throws InterruptedException {
        LogConnection opened = null;
        try {
            opened = LogConnection.open(transport, broker, patience);
            Future<Message.Leader> asked = opened.findLeader();
            if (!asked.await(ANSWER_SECONDS, TimeUnit.SECONDS)) {
                problems.put(broker, broker + " does not answer");
                return Optional.empty();
            }
            if (!asked.isSuccess()) {
                problems.put(broker, broker + ": " + Explanation.of(asked.cause()));
                return Optional.empty();
            }
            var leader = asked.getNow();
            if (!leader.address().equals(broker.toString())) {
                problems.put(broker, broker + (leader.address().isEmpty() ? " knows of no leader"
                        : " follows " + leader.address()));
                return leader.address().isEmpty() ? Optional.empty() : Optional.of(HostAndPort.parse(leader.address()));
            }
            connection = opened;
            address = broker;
            epoch = leader.epoch();
            return Optional.empty();
        } catch (ExampleFailure e) {
            problems.put(broker, e.getMessage());
            return Optional.empty();
        } finally {
            if (opened != null && opened != connection) {
                opened.close();
            }
        }
    }

    /** Ends the connection. The next call of {@link #get} makes another one. */
    @Override
    public void close() {
        if (connection != null) {
            connection.close();
            connection = null;
        }
    }
}
