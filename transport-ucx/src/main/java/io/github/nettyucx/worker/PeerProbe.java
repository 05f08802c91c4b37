// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.util.internal.SystemPropertyUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Ends connections whose peer's host, or the network to it, has gone.
 * <p>
 * UCX has the kernel probe the sockets of its tcp lanes. But a kernel probes only while nothing is on its way: what has
 * not been acknowledged it sends again and again, for a quarter of an hour. A limit for that (TCP_USER_TIMEOUT) would
 * also end connections to peers that are there and do not read. So another socket is probed: the one that the connection
 * was made over. Nothing is sent over it any more, the peer's kernel answers whatever its process does, and when it
 * fails, UCX fails the endpoint with all that is in flight. There, TCP_USER_TIMEOUT does no harm; it is for what was on
 * its way when the network went.
 * <p>
 * UCX does not tell that socket's descriptor. It is looked for among those of the process, by its addresses; once for
 * all connections that were opened in a second.
 */
public final class PeerProbe {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(PeerProbe.class);

    /** System property: how long a peer's kernel may be silent, in seconds; 0 for no limit but UCX's own. */
    static final String TIMEOUT_PROPERTY = "io.github.nettyucx.peerTimeoutSeconds";
    private static final int DEFAULT_TIMEOUT_SECONDS = 30;
    /** Probes that may be lost, as far as whole seconds allow. */
    private static final int PROBES = 10;
    private static final long PAUSE_MILLIS = TimeUnit.SECONDS.toMillis(1);
    /** So that none of the kernel's limits, of which the least is 32,767 s, is exceeded. */
    private static final int MAX_TIMEOUT_SECONDS = 32_767;

    private static final int TIMEOUT = checked(SystemPropertyUtil.getInt(TIMEOUT_PROPERTY, DEFAULT_TIMEOUT_SECONDS));

    /** Those whose sockets have not been looked for. */
    private static final LateLook<Addresses> NEW = new LateLook<>(
            Thread.ofPlatform().daemon().name("netty-ucx-peer-probe").factory(), PAUSE_MILLIS,
            PeerProbe::look, PeerProbe::warn);

    private record Addresses(InetSocketAddress local, InetSocketAddress remote) {
    }

    private PeerProbe() {
    }

    /** Connections are not to fail for a wrong limit, and not to be without one either. */
    static int checked(int timeoutSeconds) {
        if (timeoutSeconds >= 0 && timeoutSeconds <= MAX_TIMEOUT_SECONDS) {
            return timeoutSeconds;
        }
        logger.warn("System property {} is {}; expected seconds from 0, for no limit, to {}. It is taken for {}.",
                TIMEOUT_PROPERTY, timeoutSeconds, MAX_TIMEOUT_SECONDS, DEFAULT_TIMEOUT_SECONDS);
        return DEFAULT_TIMEOUT_SECONDS;
    }

    /** A third of the time for the first probe, the rest for those that may be lost. */
    static SocketTable.Probing probing(int timeoutSeconds) {
        int idle = Math.max(1, timeoutSeconds / 3);
        int rest = Math.max(1, timeoutSeconds - idle);
        int interval = Math.max(1, rest / PROBES);
        return new SocketTable.Probing(idle, interval, Math.ceilDiv(rest, interval));
    }

    /**
     * A connection whose bytes go through the network has been opened. Any thread; returns at once.
     *
     * @param local  of the socket that it was made over
     * @param remote of the same
     */
    public static void opened(InetSocketAddress local, InetSocketAddress remote) {
        if (TIMEOUT == 0 || remote.getAddress().isLoopbackAddress()
                || remote.getAddress().equals(local.getAddress())) {
            // On this host the kernel ends the connections of whoever goes.
            return;
        }
        NEW.add(new Addresses(local, remote));
    }

    private static void look(Set<Addresses> sought) throws IOException {
        try (SocketTable sockets = new SocketTable(probing(TIMEOUT))) {
            sockets.forEach((descriptor, local, remote) -> {
                if (sought.contains(new Addresses(local, remote))) {
                    sockets.probe(descriptor, local, remote);
                }
            });
        }
    }

    private static void warn(Set<Addresses> sought, Throwable cause) {
        logger.warn("Failed to look for the sockets of {} new connections: that their peers' hosts have gone"
                + " may be noticed late.", sought.size(), cause);
    }
}
