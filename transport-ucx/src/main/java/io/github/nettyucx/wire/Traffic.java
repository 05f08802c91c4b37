// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.worker.Counters;

/**
 * Counts what goes over a connection, and adds it to what has gone over all connections of its lane. Written by the
 * loop's thread only; any thread may read.
 */
public final class Traffic {

    private final Counters<TrafficCounter> counters;
    private final Counters<SizeClass> sent;
    private final Counters<SizeClass> received;
    /** {@code null} as long as the connection's lane is not known. */
    private Traffic lane;

    private Traffic(Counters<TrafficCounter> counters, Counters<SizeClass> sent, Counters<SizeClass> received) {
        this.counters = counters;
        this.sent = sent;
        this.received = received;
    }

    /** Of one connection, of which there may be many. */
    public static Traffic ofConnection() {
        return new Traffic(Counters.ofConnection(TrafficCounter.class), Counters.ofConnection(SizeClass.class),
                Counters.ofConnection(SizeClass.class));
    }

    /** Of all connections of a loop that have the same lane. */
    public static Traffic ofLane() {
        return new Traffic(new Counters<>(TrafficCounter.class), new Counters<>(SizeClass.class),
                new Counters<>(SizeClass.class));
    }

    // ------------------------------------------------------------------------------------------- counting

    /**
     * A message has been given to UCX.
     *
     * @param request UCX's answer, see {@link io.github.nettyucx.worker.EndpointPort}
     */
    void sent(int length, long request) {
        if (request < 0) {
            return;
        }
        SizeClass size = SizeClass.of(length);
        sent(size, length, request);
        if (lane != null) {
            lane.sent(size, length, request);
        }
    }

    /** Bytes have been given to the kernel in one call. */
    public void sent(int length) {
        sent(length, 0);
    }

    private void sent(SizeClass size, int length, long request) {
        counters.add(TrafficCounter.BYTES_SENT, length);
        sent.increment(size);
        if (request > 0) {
            counters.increment(TrafficCounter.SENDS_DEFERRED);
        }
    }

    /** A message is there; its bytes may still be at the peer. Or the kernel has given bytes in one call. */
    public void arrived(int length) {
        SizeClass size = SizeClass.of(length);
        arrived(size, length);
        if (lane != null) {
            lane.arrived(size, length);
        }
    }

    private void arrived(SizeClass size, int length) {
        counters.add(TrafficCounter.BYTES_RECEIVED, length);
        received.increment(size);
    }

    void count(TrafficCounter counter) {
        add(counter, 1);
    }

    private void add(TrafficCounter counter, int n) {
        counters.add(counter, n);
        if (lane != null) {
            lane.counters.add(counter, n);
        }
    }

    /** A message was copied together from so many of the application's buffers. */
    public void gathered(int buffers) {
        add(TrafficCounter.MESSAGES_GATHERED, 1);
        add(TrafficCounter.BUFFERS_GATHERED, buffers);
    }

    /** The connection is open, and goes over this lane. What was counted before is the lane's, too. */
    public void opened(Traffic lane) {
        assert this.lane == null;
        counters.increment(TrafficCounter.CONNECTIONS_OPENED);
        lane.addAll(this);
        this.lane = lane;
    }

    /** The connection, which has been open, is not any more. */
    public void closed() {
        count(TrafficCounter.CONNECTIONS_CLOSED);
    }

    /** Adds what another one has counted so far. */
    public void addAll(Traffic other) {
        counters.addAll(other.counters);
        sent.addAll(other.sent);
        received.addAll(other.received);
    }

    // ------------------------------------------------------------------------------------------- reading

    public long get(TrafficCounter counter) {
        return counters.get(counter);
    }

    /** Messages with bytes of the stream that were sent, by their size. */
    public Counters<SizeClass> sent() {
        return sent;
    }

    /** Messages with bytes of the stream that have arrived, by their size. */
    public Counters<SizeClass> received() {
        return received;
    }
}
