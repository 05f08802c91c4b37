// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.wire.Connection;
import io.github.nettyucx.wire.HandshakeFailure;
import io.github.nettyucx.wire.Traffic;
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.net.SocketAddress;

/** What is counted and told of one connection: whether it was made, what goes over it, how it ends. */
final class ConnectionMetrics {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UcxSocketChannel.class);

    private final UcxSocketChannel channel;
    private final Traffic traffic = new Traffic();
    /** Of the loop that the channel is registered with. */
    private LoopCounters loop;
    private long openedNanos;

    ConnectionMetrics(UcxSocketChannel channel) {
        this.channel = channel;
    }

    Traffic traffic() {
        return traffic;
    }

    void countBy(LoopCounters counters) {
        loop = counters;
    }

    void opened() {
        traffic.opened(loop.lane(channel.lane()));
        logger.debug("{} is connected by {}: {}", channel, channel.lane(), channel.transports());
        openedNanos = System.nanoTime();
        FlightEvents.opened(channel);
    }

    /** The channel gives up a connection that is not open: for the connection's own reason, if it has one. */
    void failed(Connection connection, SocketAddress remote, Throwable cause, HandshakeFailure otherwise) {
        HandshakeFailure own = connection.handshakeFailure();
        failed(own != null ? own : cause instanceof ConnectTimeoutException ? HandshakeFailure.TIMED_OUT : otherwise,
                remote, cause);
    }

    void failed(HandshakeFailure reason, SocketAddress remote, Throwable cause) {
        loop.handshakeFailures().increment(reason);
        FlightEvents.handshakeFailed(channel.id().asShortText(), remote, channel.isAccepted(), reason, cause);
    }

    void closed(CloseReason reason) {
        traffic.closed();
        loop.closings().increment(reason);
        FlightEvents.closed(channel, reason, System.nanoTime() - openedNanos);
    }
}
