// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Keeps some of the process's descriptors free: nothing is made that would take one of the last.
 * <p>
 * While a connection is made or ends, UCX asks the kernel about its TCP interfaces, with sockets and files that it opens
 * for a moment. Where there is no descriptor for one of them, it ends the process ({@code ucp_worker_set_am_handlers} in
 * {@code ucp_worker.c} of 1.22: "failed to set active message handler").
 */
final class DescriptorReserve {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(DescriptorReserve.class);

    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final String LIMIT = "Max open files";
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    /** Several loops make connections at the same time, and a worker takes about ten. */
    private static final int LEAST = 32;
    private static final int MOST = 256;
    private static final int PART_OF_LIMIT = 16;
    /** At most. */
    private static final int TAKEN_BY_WORKER = 16;
    /** The connection manager's socket, of one that is asked for or that asks. */
    private static final int TAKEN_AT_ONCE = 1;
    /**
     * What a connection takes when the two sides have heard of each other: two, for the lanes, were measured over
     * shared memory and over tcp. One more is for hosts with more devices.
     */
    private static final int TAKEN_LATER = 3;
    /** How old a count may be that is not cheap. */
    static final long COUNT_AGE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Many are counted for a tenth of a second, and longer: counting may take such a part of the time at most. */
    static final int COUNTING_PART = 10;
    private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Of the process. */
    static final DescriptorReserve PROCESS = new DescriptorReserve(
            limit(), DescriptorReserve::inUse, isCountCheap(), System::nanoTime);

    private final int limit;
    private final int reserve;
    private final Count count;
    private final boolean countIsCheap;
    private final LongSupplier clock;
    /** Connections that have not taken all that they are going to. Any thread ends one, and waits for no count. */
    private final AtomicInteger connecting = new AtomicInteger();
    /** What was taken after the last count, or so. */
    private final AtomicInteger taken = new AtomicInteger();
    /** Of the one who counts. The others go by the last count, and what was taken since: nobody waits for the next. */
    private final ReentrantLock counting = new ReentrantLock();
    private volatile boolean everCounted;
    private volatile int counted;
    private long countedNanos;
    private long countTookNanos;
    private long loggedNanos;
    private int refused;

    /** How many descriptors are in use. */
    interface Count {
        int get() throws IOException;
    }

    /** @param countIsCheap whether they may be counted each time */
    DescriptorReserve(int limit, Count count, boolean countIsCheap, LongSupplier clock) {
        this.limit = limit;
        this.count = count;
        this.countIsCheap = countIsCheap;
        this.clock = clock;
        loggedNanos = clock.getAsLong() - LOG_INTERVAL_NANOS;
        reserve = Math.clamp(limit / PART_OF_LIMIT, LEAST, MOST);
    }

    /** How many the process may have. */
    int processLimit() {
        return limit;
    }

    /** Whether nothing would be made now, with as many in use. */
    boolean isFew(int inUse) {
        return inUse > limit - reserve;
    }

    /**
     * To be called before a worker is made. Any thread.
     *
     * @throws IOException if only those are left that UCX has to find
     */
    void beginWorker() throws IOException {
        check(TAKEN_BY_WORKER, 0);
    }

    /**
     * To be called before a connection is asked for or accepted, and {@link #endConnecting} once when this is over.
     * Most of its descriptors UCX takes later, when nobody can be told any more that there are none. Where it finds
     * none for a lane that comes in, it closes the socket that all lanes of the worker come in by, for good
     * ({@code uct_tcp_iface_connect_handler} in {@code tcp_iface.c} of 1.22). Any thread.
     *
     * @throws IOException if those that are left are for UCX, and for the connections that are being made
     */
    void beginConnecting() throws IOException {
        check(TAKEN_AT_ONCE, 1);
    }

    /**
     * To be called when UCX takes no more descriptors for a connection. Any thread.
     *
     * @param connected whether it has taken them; otherwise the connection has come to nothing
     */
    void endConnecting(boolean connected) {
        if (connected) {
            taken.addAndGet(TAKEN_LATER);
        }
        connecting.decrementAndGet();
    }

    private void check(int takenAtOnce, int connections) throws IOException {
        if (mayCount()) {
            try {
                countIfDue();
            } finally {
                counting.unlock();
            }
        }
        take(takenAtOnce, connections);
    }

    /** Whether the caller has {@link #counting}; it has waited for that only if there has been no count so far. */
    private boolean mayCount() {
        if (everCounted) {
            return counting.tryLock();
        }
        counting.lock();
        return true;
    }

    private void countIfDue() throws IOException {
        long start = clock.getAsLong();
        if (everCounted && !countIsCheap) {
            long age = start - countedNanos;
            if (age < COUNT_AGE_NANOS || age < COUNTING_PART * countTookNanos) {
                return;
            }
        }
        int before = taken.get();
        int now = count.get();
        synchronized (this) {
            counted = now;
            // What was taken during the count stays: it may be in the count, too.
            taken.addAndGet(-before);
        }
        countedNanos = clock.getAsLong();
        countTookNanos = countedNanos - start;
        everCounted = true;
    }

    private synchronized void take(int takenAtOnce, int connections) throws IOException {
        if (isFew()) {
            refused++;
            String problem = problem();
            long now = clock.getAsLong();
            if (now - loggedNanos >= LOG_INTERVAL_NANOS) {
                logger.warn("{} connection(s) could not be made: {}", refused, problem);
                loggedNanos = now;
                refused = 0;
            }
            throw new IOException(problem);
        }
        taken.addAndGet(takenAtOnce);
        connecting.addAndGet(connections);
    }

    private boolean isFew() {
        return (long) counted + taken.get() + (long) connecting.get() * TAKEN_LATER > limit - reserve;
    }

    private String problem() {
        int others = connecting.get();
        String later = others == 0 ? "" : ", " + others + " connection(s) that are being made take up to "
                + others * TAKEN_LATER + " more";
        return "too many open files: " + (counted + taken.get()) + " of " + limit + " descriptors are in use" + later
                + ", and the last " + reserve + " are kept for UCX, which ends the process where it finds none;"
                + " raise the limit (ulimit -n)";
    }

    /** Linux 6.2 and later tell by the size of the directory, which takes no descriptor and a microsecond. */
    private static boolean isCountCheap() {
        try {
            return Files.size(DESCRIPTORS) > 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** How many the process has. */
    static int inUse() throws IOException {
        int size = (int) Files.size(DESCRIPTORS);
        return size > 0 ? size : listed();
    }

    /** The same by what every Linux has. The count takes a descriptor or two itself. */
    static int listed() throws IOException {
        try (Stream<Path> all = Files.list(DESCRIPTORS)) {
            return (int) all.count();
        }
    }

    private static int limit() {
        try {
            for (String line : Files.readAllLines(LIMITS)) {
                if (line.startsWith(LIMIT)) {
                    return Integer.parseInt(line.substring(LIMIT.length()).strip().split("\\s+")[0]);
                }
            }
        } catch (IOException | NumberFormatException e) {
            logger.debug("Failed to read the limit of descriptors.", e);
        }
        return Integer.MAX_VALUE;
    }
}
