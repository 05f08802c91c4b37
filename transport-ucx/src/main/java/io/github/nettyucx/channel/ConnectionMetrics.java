// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.handshake.HandshakeFailure;
import io.github.nettyucx.wire.CloseReason;
import io.github.nettyucx.wire.Traffic;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.net.SocketAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/** What is counted and told of one connection: whether it was made, what goes over it, how it ends. */
final class ConnectionMetrics {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UcxSocketChannel.class);

    /** Why better lanes were not taken, as far as it has been told: once for the process each, at INFO. */
    private static final Set<String> toldReasons = ConcurrentHashMap.newKeySet();
    private static final int TOLD_AT_MOST = 64;
    /** In a reason, what may be another with each connection. */
    private static final Pattern ADDRESS = Pattern.compile("\\S+:\\d+");

    /** How those end that are no peers of ours. */
    private static final Set<HandshakeFailure> STRANGERS = EnumSet.of(HandshakeFailure.OTHER_PROGRAM,
            HandshakeFailure.OTHER_PROTOCOL_VERSION, HandshakeFailure.PROTOCOL_VIOLATION, HandshakeFailure.NO_SECRET,
            HandshakeFailure.WRONG_SECRET, HandshakeFailure.PLAIN_REFUSED, HandshakeFailure.TIMED_OUT,
            HandshakeFailure.CLOSED_BY_PEER);

    /** {@code null} if there is none. */
    static volatile ConnectionObserver observer;

    private final UcxSocketChannel channel;
    private final Traffic traffic = Traffic.ofConnection();
    /** Of the loop that the channel is registered with. */
    private LoopCounters loop;
    private long openedNanos;
    /** Why there was no handshake; {@code null} if there was one, or nobody wanted any. */
    private String plainReason;
    /** The one that was told of the opening; {@code null} if there was none. */
    private ConnectionObserver told;

    ConnectionMetrics(UcxSocketChannel channel) {
        this.channel = channel;
    }

    Traffic traffic() {
        return traffic;
    }

    void countBy(LoopCounters counters) {
        loop = counters;
    }

    void plain(String reason) {
        plainReason = reason;
    }

    /** @param reasons why no better lane was taken */
    void opened(List<String> reasons) {
        traffic.opened(loop.lane(channel.lane()));
        logger.debug("{} is connected by {}: {}", channel, channel.lane(), channel.transports());
        for (String reason : reasons) {
            logger.debug("{} does not have a better lane: {}", channel, reason);
            if (toldReasons.size() < TOLD_AT_MOST && toldReasons.add(ADDRESS.matcher(reason).replaceAll(""))) {
                logger.info("A connection goes over lane {} because of this (said once): {}", channel.lane(), reason);
            }
        }
        if (plainReason != null) {
            logger.debug("{} is an ordinary connection: {}", channel, plainReason);
        }
        openedNanos = System.nanoTime();
        FlightEvents.opened(channel);
        told = observer;
        if (told != null) {
            tell(() -> told.opened(channel, channel.isAccepted(), plainReason == null ? reasons : List.of(plainReason)));
        }
    }

    void failed(HandshakeFailure reason, SocketAddress remote, Throwable cause) {
        loop.handshakeFailures.increment(reason);
        if (channel.isAccepted() && STRANGERS.contains(reason)) {
            loop.events.increment(LoopCounters.Event.STRANGERS);
        }
        FlightEvents.handshakeFailed(channel.id().asShortText(), remote, channel.isAccepted(), reason, cause);
    }

    void closed(CloseReason reason) {
        traffic.closed();
        loop.closings.increment(reason);
        FlightEvents.closed(channel, reason, System.nanoTime() - openedNanos);
        if (told != null) {
            tell(() -> told.closed(channel));
        }
    }

    /** A tool that looks on does not harm what it looks at. */
    private void tell(Runnable news) {
        try {
            news.run();
        } catch (RuntimeException | LinkageError | AssertionError e) {
            logger.warn("{} has thrown an exception when it was told of {}.", told, channel, e);
        }
    }
}
