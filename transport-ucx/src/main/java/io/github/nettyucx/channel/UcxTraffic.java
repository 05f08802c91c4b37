// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.SizeClass;
import io.github.nettyucx.wire.Traffic;
import io.github.nettyucx.wire.TrafficCounter;

import java.util.Collection;

/**
 * What had gone over a connection, over all connections of one lane, or over all of them, when this object was made; it
 * does not change. All counts begin with the connection, or with its event loop.
 * <p>
 * Counted are messages with bytes of the stream: what the application has written and flushed, cut into messages by the
 * transport. What UCX makes of them is not known. Where the kernel's socket carries the bytes, each call that has moved
 * some counts as a message.
 *
 * @see UcxSocketChannel#metrics()
 * @see UcxMetrics#lanes()
 */
public final class UcxTraffic {

    private final Traffic traffic = Traffic.ofConnection();

    UcxTraffic(Collection<Traffic> parts) {
        parts.forEach(traffic::addAll);
    }

    /** Bytes of the stream that were given to UCX, or that the kernel has taken. */
    public long bytesSent() {
        return traffic.get(TrafficCounter.BYTES_SENT);
    }

    /** Bytes of the stream in messages that have arrived, whether they have been read or not. */
    public long bytesReceived() {
        return traffic.get(TrafficCounter.BYTES_RECEIVED);
    }

    /** Messages that were given to UCX, or to the kernel. */
    public long messagesSent() {
        return traffic.sent().sum();
    }

    /** Those of {@link #messagesSent()} that have this size. */
    public long messagesSent(SizeClass size) {
        return traffic.sent().get(size);
    }

    /** Messages that have arrived. Of a large one that is its announcement: the bytes are fetched when they are read. */
    public long messagesReceived() {
        return traffic.received().sum();
    }

    /** Those of {@link #messagesReceived()} that have this size. */
    public long messagesReceived(SizeClass size) {
        return traffic.received().get(size);
    }

    /**
     * Those of {@link #messagesSent()} that UCX did not complete in the call: every rendezvous, and eager messages that
     * it sends from where they lie, or that had to wait. UCX does not tell which of these it was.
     */
    public long sendsDeferred() {
        return traffic.get(TrafficCounter.SENDS_DEFERRED);
    }

    /**
     * Those of {@link #messagesReceived()} whose receive UCX did not complete in the call: every rendezvous, and eager
     * messages of which not all fragments had come. The bytes of the others were there when they were wanted.
     */
    public long receivesDeferred() {
        return traffic.get(TrafficCounter.RECEIVES_DEFERRED);
    }

    /**
     * Those of {@link #messagesSent()} that were copied together from the application's buffers; over a link also those of
     * one buffer that had to be copied.
     */
    public long messagesGathered() {
        return traffic.get(TrafficCounter.MESSAGES_GATHERED);
    }

    /** Buffers that {@link #messagesGathered()} were made of; one that is continued in the next message counts twice. */
    public long buffersGathered() {
        return traffic.get(TrafficCounter.BUFFERS_GATHERED);
    }

    /** How often there was something to send, and the peer had no room for it; once until the peer grants more. */
    public long creditWaits() {
        return traffic.get(TrafficCounter.CREDIT_WAITS);
    }

    /** {@code CREDIT} messages that were sent: grants that found no message to go along with. */
    public long creditMessagesSent() {
        return traffic.get(TrafficCounter.CREDIT_MESSAGES_SENT);
    }

    /** {@code CREDIT} messages that have arrived. */
    public long creditMessagesReceived() {
        return traffic.get(TrafficCounter.CREDIT_MESSAGES_RECEIVED);
    }

    /** Connections whose channels have become active. */
    public long connectionsOpened() {
        return traffic.get(TrafficCounter.CONNECTIONS_OPENED);
    }

    /** Those of {@link #connectionsOpened()} that are closed. */
    public long connectionsClosed() {
        return traffic.get(TrafficCounter.CONNECTIONS_CLOSED);
    }

    /** Those of {@link #connectionsOpened()} that are not closed. */
    public long connections() {
        // Opened and closed are not read at the same moment.
        return Math.max(0, connectionsOpened() - connectionsClosed());
    }
}
