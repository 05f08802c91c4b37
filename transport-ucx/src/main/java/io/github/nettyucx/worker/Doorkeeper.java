// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
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
    /** Of the process; {@code null} while nobody listens. */
    private static Thread watch;
    private static volatile int rounds;

    private final InetSocketAddress listening;
    private final IntSupplier timeoutMillis;
    /** Whose connection requests have come, as long as their connections and their sockets are there. */
    private final Map<InetSocketAddress, Guest> announced = new ConcurrentHashMap<>();
    /** The others, and since when they are known. Only used under the lock. */
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
            ALL.add(this);
            if (watch == null) {
                watch = Thread.ofPlatform().daemon().name("netty-ucx-doorkeeper").start(Doorkeeper::keepWatch);
            }
        }
    }

    /** A client whose connection request has come. */
    public final class Guest {

        private final InetSocketAddress client;
        private final int round = rounds;

        private Guest(InetSocketAddress client) {
            this.client = client;
        }

        /**
         * The connection has ended. Any thread. Whoever connects next from the same port, which may be at once, is
         * somebody else.
         */
        public void left() {
            if (client != null) {
                announced.remove(client, this);
            }
        }
    }

    /**
     * A connection request has come. Any thread.
     *
     * @param client where from; {@code null} if UCX cannot tell
     */
    public Guest announced(InetSocketAddress client) {
        Guest guest = new Guest(client);
        if (client != null) {
            announced.put(client, guest);
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
                SOCKETS.forEach((descriptor, local, remote) -> isOurs(local) && !announced.containsKey(remote)
                        ? SocketTable.Action.RESET : SocketTable.Action.LEAVE);
            } catch (IOException | RuntimeException e) {
                logger.warn("Failed to look through the sockets of {}.", listening, e);
            }
            report(now);
        }
    }

    @Override
    public void close() {
        turnAllAway();
        synchronized (Doorkeeper.class) {
            ALL.remove(this);
            if (ALL.isEmpty() && watch != null) {
                watch.interrupt();
                watch = null;
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
                } catch (IOException | RuntimeException e) {
                    logger.warn("Failed to look through the sockets.", e);
                    interval = MAX_INTERVAL_MILLIS;
                }
            }
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
        boolean hurry = strangers > DESCRIPTORS / 4;
        int descriptors = SOCKETS.forEach((descriptor, local, remote) -> {
            for (Doorkeeper each : ALL) {
                if (each.isOurs(local)) {
                    seen.get(each).add(remote);
                    return each.isToGo(descriptor, remote, now, hurry)
                            ? SocketTable.Action.RESET : SocketTable.Action.LEAVE;
                }
            }
            return SocketTable.Action.LEAVE;
        });
        long interval = MAX_INTERVAL_MILLIS;
        for (Doorkeeper each : ALL) {
            each.forget(seen.get(each));
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

    private boolean isToGo(int descriptor, InetSocketAddress remote, long now, boolean hurry) {
        if (announced.containsKey(remote)) {
            return false;
        }
        Long since = strangers.putIfAbsent(remote, now);
        if (since == null) {
            return false;
        }
        long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMillis.getAsInt());
        String problem;
        if (now - since >= timeoutNanos) {
            problem = "no message to connect within " + timeoutMillis.getAsInt() + " ms";
        } else if (now - since < HURRY_NANOS) {
            return false;
        } else if (hurry) {
            problem = "no message to connect while descriptors are few";
        } else if (SOCKETS.unread(descriptor) > 0 && SOCKETS.received(descriptor) > MOST_READ) {
            problem = "more bytes than a message to connect has";
        } else {
            return false;
        }
        logger.debug("Turning {} away from {}: {}", remote, listening, problem);
        strangers.remove(remote);
        turnedAway(problem);
        return true;
    }

    /** Those whose sockets have gone. */
    private void forget(Set<InetSocketAddress> seen) {
        strangers.keySet().removeIf(remote -> !seen.contains(remote) || announced.containsKey(remote));
        // What came during this round may have been looked for before it was there.
        announced.entrySet().removeIf(entry -> entry.getValue().round < rounds && !seen.contains(entry.getKey()));
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
