// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/**
 * Turns away whoever connects to a listener's port and does not go on as a UCX client does.
 * <p>
 * UCX accepts every TCP connection by itself, and waits for a message of the client's without a limit; nobody learns of
 * the connection before that. A port scanner that stays, a health check, a client behind a broken network would hold
 * their descriptors until they close them. So the process's sockets are looked through from time to time. One that
 * belongs to the port, and of whose peer no connection request has come within the time, is reset; UCX then finds that
 * the peer has gone, and gives it back.
 * <p>
 * Whoever has sent more than UCX reads goes at the second look: UCX's thread for such sockets does not sleep any more
 * then.
 */
public final class Doorkeeper implements AutoCloseable {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(Doorkeeper.class);

    private static final long MAX_INTERVAL_MILLIS = 2500;
    private static final long MIN_INTERVAL_MILLIS = 50;
    /** While somebody is being waited for, or descriptors are few. */
    private static final long ALERT_INTERVAL_MILLIS = 500;
    /** When the descriptors get few, nobody gets more time than this to say who they are. */
    private static final long HURRY_NANOS = TimeUnit.MILLISECONDS.toNanos(400);
    /**
     * What UCX reads at most before there is a request: {@code TCP_CM_PRIV_DATA_LEN}, whose default is 2048, and two
     * headers of 16 bytes.
     */
    private static final long MOST_READ = 2080;
    private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final List<Doorkeeper> ALL = new CopyOnWriteArrayList<>();
    private static final SocketTable SOCKETS = new SocketTable(null);
    private static final int DESCRIPTORS = DescriptorReserve.PROCESS.processLimit();
    private static final InetAddress ANY_IPV4 = InetAddress.ofLiteral("0.0.0.0");
    private static final InetAddress ANY_IPV6 = InetAddress.ofLiteral("::");
    /**
     * Whose connection requests have come, as long as their connections and their sockets are there. Of the process:
     * connections outlive their listener, and a later one has the same port.
     */
    private static final Map<Addresses, Guest> GUESTS = new ConcurrentHashMap<>();
    /** Of the process; {@code null} while nobody listens. */
    private static Thread watch;
    private static volatile int rounds;
    /** In use when they were last looked through. Only used under the lock. */
    private static int descriptors;
    private static long complainedNanos = System.nanoTime() - LOG_INTERVAL_NANOS;

    private final InetSocketAddress listening;
    private final IntSupplier timeoutMillis;
    /** Who has connected and sent no connection request, and since when they are known. Only used under the lock. */
    private final Map<InetSocketAddress, Long> strangers = new HashMap<>();
    private final AtomicLong turnedAway = new AtomicLong();
    private final AtomicLong total;
    private long loggedNanos = System.nanoTime() - LOG_INTERVAL_NANOS;
    private long loggedCount;
    private volatile String lastProblem = "";

    /**
     * @param listening     the listener's address, with its port
     * @param timeoutMillis how long a client may take from its TCP connection to its connection request
     * @param total         counts those who are turned away, here and elsewhere
     */
    public Doorkeeper(InetSocketAddress listening, IntSupplier timeoutMillis, AtomicLong total) {
        this.listening = listening;
        this.timeoutMillis = timeoutMillis;
        this.total = total;
        synchronized (Doorkeeper.class) {
            if (watch == null) {
                SOCKETS.prepare();
                watch = Thread.ofPlatform().daemon().name("netty-ucx-doorkeeper").start(Doorkeeper::keepWatch);
            }
            // Only then: where no thread can be started nobody closes this one.
            ALL.add(this);
        }
    }

    /** @param local the listener's, whose address may be a wildcard */
    private record Addresses(InetSocketAddress local, InetSocketAddress remote) {
    }

    /** A client whose connection request has come. */
    public static final class Guest {

        /** {@code null} if UCX cannot tell where the client is. */
        private final Addresses addresses;
        /** A round that begins later than this one finds the guest. */
        private volatile int arrived = Integer.MAX_VALUE;
        /** The last round that found the socket. Only used under the lock. */
        private int seen;

        private Guest(Addresses addresses) {
            this.addresses = addresses;
        }

        /**
         * The connection has ended. Any thread. Whoever connects next from the same port, which may be at once, is
         * somebody else.
         */
        public void left() {
            if (addresses != null) {
                GUESTS.remove(addresses, this);
            }
        }
    }

    /**
     * A connection request has come. Any thread. The guest is known until it {@linkplain Guest#left() leaves}, also
     * when this has been closed.
     *
     * @param client where from; {@code null} if UCX cannot tell
     */
    public Guest announced(InetSocketAddress client) {
        if (client == null) {
            return new Guest(null);
        }
        Guest guest = new Guest(new Addresses(listening, client));
        GUESTS.put(guest.addresses, guest);
        guest.arrived = rounds;
        return guest;
    }

    /** Whose socket it is; {@code null} if it is not that of a guest. */
    private static Guest guest(InetSocketAddress local, InetSocketAddress remote) {
        Guest guest = GUESTS.get(new Addresses(local, remote));
        if (guest == null) {
            InetAddress any = local.getAddress() instanceof Inet4Address ? ANY_IPV4 : ANY_IPV6;
            guest = GUESTS.get(new Addresses(new InetSocketAddress(any, local.getPort()), remote));
        }
        return guest;
    }

    /**
     * A connection request has been turned away. Any thread.
     *
     * @param problem why, a phrase
     */
    public void turnedAway(String problem) {
        lastProblem = problem;
        turnedAway.incrementAndGet();
        total.incrementAndGet();
    }

    /** How many have been turned away so far. */
    public long turnedAwayCount() {
        return turnedAway.get();
    }

    /**
     * Turns everybody away who has not sent a connection request. UCX uses a listener that has been destroyed if such a
     * client sends one later, so this is to be called before the listener is closed; and {@link #close()} after that.
     */
    public void turnAllAway() {
        synchronized (Doorkeeper.class) {
            long now = System.nanoTime();
            try {
                SOCKETS.forEach((descriptor, local, remote) -> {
                    if (isOurs(local) && guest(local, remote) == null) {
                        SOCKETS.reset(descriptor, local, remote);
                    }
                });
            } catch (IOException | RuntimeException e) {
                complain(e);
            }
            report(now);
        }
    }

    @Override
    public void close() {
        turnAllAway();
        synchronized (Doorkeeper.class) {
            ALL.remove(this);
            if (ALL.isEmpty()) {
                if (watch != null) {
                    watch.interrupt();
                    watch = null;
                }
                SOCKETS.close();
            }
        }
    }

    // ------------------------------------------------------------------------------------------- the watch

    private static void keepWatch() {
        long interval = MIN_INTERVAL_MILLIS;
        while (true) {
            try {
                Thread.sleep(interval);
            } catch (InterruptedException e) {
                return;
            }
            synchronized (Doorkeeper.class) {
                if (watch != Thread.currentThread()) {
                    return;
                }
                try {
                    interval = look();
                } catch (Throwable t) {
                    // Whatever it is, an OutOfMemoryError too: nobody else keeps watch.
                    interval = MAX_INTERVAL_MILLIS;
                    complain(t);
                }
            }
        }
    }

    /** To be called under the lock. */
    private static void complain(Throwable cause) {
        long now = System.nanoTime();
        if (now - complainedNanos >= LOG_INTERVAL_NANOS) {
            complainedNanos = now;
            logger.warn("Failed to look through the sockets: who connects and says nothing may stay.", cause);
        } else {
            logger.debug("Failed to look through the sockets.", cause);
        }
    }

    /** @return until the next look, in milliseconds */
    private static long look() throws IOException {
        rounds++;
        Map<Doorkeeper, Set<InetSocketAddress>> seen = new HashMap<>();
        int strangers = 0;
        for (Doorkeeper each : ALL) {
            seen.put(each, new HashSet<>());
            strangers += each.strangers.size();
        }
        long now = System.nanoTime();
        // Where there are too few for a connection, a client has nothing to gain from more time.
        boolean hurry = strangers > DESCRIPTORS / 4 || DescriptorReserve.PROCESS.isFew(descriptors);
        descriptors = SOCKETS.forEach((descriptor, local, remote) -> {
            Guest guest = guest(local, remote);
            if (guest != null) {
                guest.seen = rounds;
                return;
            }
            for (Doorkeeper each : ALL) {
                if (each.isOurs(local)) {
                    seen.get(each).add(remote);
                    each.judge(descriptor, local, remote, now, hurry);
                    return;
                }
            }
        });
        // Those whose sockets have gone. Who came during this round may have been looked for before they were there.
        GUESTS.values().removeIf(guest -> guest.arrived < rounds && guest.seen < rounds);
        long interval = MAX_INTERVAL_MILLIS;
        for (Doorkeeper each : ALL) {
            each.strangers.keySet().retainAll(seen.get(each));
            each.report(now);
            interval = Math.min(interval, each.timeoutMillis.getAsInt() / 4);
            if (!each.strangers.isEmpty() || descriptors > DESCRIPTORS / 4 * 3) {
                interval = Math.min(interval, ALERT_INTERVAL_MILLIS);
            }
        }
        return Math.max(MIN_INTERVAL_MILLIS, interval);
    }

    private boolean isOurs(InetSocketAddress local) {
        return local.getPort() == listening.getPort()
                && (local.getAddress().equals(listening.getAddress()) || listening.getAddress().isAnyLocalAddress()
                && local.getAddress().getClass() == listening.getAddress().getClass());
    }

    /** Turns a stranger away whose time is over. */
    private void judge(int descriptor, InetSocketAddress local, InetSocketAddress remote, long now, boolean hurry) {
        Long since = strangers.putIfAbsent(remote, now);
        if (since == null) {
            return;
        }
        long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMillis.getAsInt());
        String problem;
        if (now - since >= timeoutNanos) {
            problem = "no message to connect within " + timeoutMillis.getAsInt() + " ms";
        } else if (now - since < HURRY_NANOS) {
            return;
        } else if (hurry) {
            problem = "no message to connect while descriptors are few";
        } else if (SOCKETS.unread(descriptor) > 0 && SOCKETS.received(descriptor) > MOST_READ) {
            problem = "more bytes than a message to connect has";
        } else {
            return;
        }
        if (SOCKETS.reset(descriptor, local, remote)) {
            logger.debug("Turned {} away from {}: {}", remote, listening, problem);
            strangers.remove(remote);
            turnedAway(problem);
        }
    }

    private void report(long now) {
        long count = turnedAway.get();
        if (count > loggedCount && now - loggedNanos >= LOG_INTERVAL_NANOS) {
            logger.warn("{} connections to {} were turned away, the last because of {}; they were not of UCX clients.",
                    count - loggedCount, listening, lastProblem);
            loggedCount = count;
            loggedNanos = now;
        }
    }
}
