// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
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
    /** At most, of a connection with a worker of its own. */
    private static final int TAKEN_EACH_TIME = 16;
    private static final long COUNT_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Of the process. */
    static final DescriptorReserve PROCESS = new DescriptorReserve(limit(), DescriptorReserve::inUse, isCountCheap());

    private final int limit;
    private final int reserve;
    private final Count count;
    private final boolean countIsCheap;
    private int used;
    private long countedNanos = System.nanoTime() - COUNT_AGE_NANOS;
    private long loggedNanos = System.nanoTime() - LOG_INTERVAL_NANOS;
    private int refused;

    /** How many descriptors are in use. */
    interface Count {
        int get() throws IOException;
    }

    /** @param countIsCheap whether they may be counted each time */
    DescriptorReserve(int limit, Count count, boolean countIsCheap) {
        this.limit = limit;
        this.count = count;
        this.countIsCheap = countIsCheap;
        reserve = Math.clamp(limit / PART_OF_LIMIT, LEAST, MOST);
    }

    /** How many the process may have. */
    int processLimit() {
        return limit;
    }

    /**
     * To be called before something that takes descriptors is made. Any thread.
     *
     * @throws IOException if only those are left that UCX has to find
     */
    synchronized void check() throws IOException {
        long now = System.nanoTime();
        if (countIsCheap || isFew() || now - countedNanos >= COUNT_AGE_NANOS) {
            used = count.get();
            countedNanos = now;
        }
        if (isFew()) {
            refused++;
            String problem = "too many open files: " + used + " of " + limit + " descriptors are in use, and the last "
                    + reserve + " are kept for UCX, which ends the process where it finds none; raise the limit (ulimit -n)";
            if (now - loggedNanos >= LOG_INTERVAL_NANOS) {
                logger.warn("{} connection(s) could not be made: {}", refused, problem);
                loggedNanos = now;
                refused = 0;
            }
            throw new IOException(problem);
        }
        used += TAKEN_EACH_TIME;
    }

    private boolean isFew() {
        return used > limit - reserve;
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
