// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.github.nettyucx.handshake.LinkException;
import io.github.nettyucx.handshake.ProcessIdentity;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** What one event loop remembers of links and workers that could not be made: they are not tried at each connection. */
final class LinkFailures {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(LinkFailures.class);

    /** How long it is not tried again to make links to a process, after it has failed. */
    static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** How long it is not tried again to make a worker. What it lacks can be there again soon: memory, descriptors. */
    static final long WORKER_RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Of so many processes it is known that links to them have failed. */
    static final int MAX_FAILURES = 256;

    private record LinkKey(LaneKind lane, ProcessIdentity process) {
    }

    private record WorkerKey(LaneKind lane, boolean serving) {
    }

    private record Failure(String reason, long nanos) {
    }

    private final LongSupplier clock;
    private final Map<WorkerKey, Failure> workers = new HashMap<>();
    private final Map<LinkKey, Failure> links = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        /** Processes are what strangers say that they are: there can be any number of them. */
        @Override
        protected boolean removeEldestEntry(Map.Entry<LinkKey, Failure> eldest) {
            return size() > MAX_FAILURES;
        }
    };

    LinkFailures(LongSupplier clock) {
        this.clock = clock;
    }

    /** @throws LinkException if links to the process have failed a short time ago */
    void check(LaneKind lane, ProcessIdentity process) throws LinkException {
        // In most processes none ever fails, and the keys' hash codes need not be.
        if (!links.isEmpty()) {
            check(links, new LinkKey(lane, process), RETRY_NANOS);
        }
    }

    /** @throws LinkException if no worker could be made a short time ago */
    void checkWorkers(LaneKind lane, boolean serving) throws LinkException {
        if (!workers.isEmpty()) {
            check(workers, new WorkerKey(lane, serving), WORKER_RETRY_NANOS);
        }
    }

    private <K> void check(Map<K, Failure> failures, K key, long retryNanos) throws LinkException {
        Failure failure = failures.get(key);
        if (failure != null) {
            if (clock.getAsLong() - failure.nanos < retryNanos) {
                throw new LinkException(failure.reason);
            }
            failures.remove(key);
        }
    }

    /** No link to this process could be made, or nothing has crossed it. */
    LinkException link(LaneKind lane, ProcessIdentity process, Exception cause) {
        logger.debug("No link of lane {} to process {}", lane, Long.toHexString(process.process()), cause);
        return link(lane, process, cause.getMessage() == null ? cause.toString() : cause.getMessage());
    }

    LinkException link(LaneKind lane, ProcessIdentity process, String reason) {
        links.put(new LinkKey(lane, process), new Failure(reason, clock.getAsLong()));
        return new LinkException(reason);
    }

    /** No worker could be made, whoever the peer is: the next connection would wait as long for the same. */
    LinkException worker(LaneKind lane, boolean serving, Exception cause) {
        logger.debug("No worker for lane {}", lane, cause);
        String reason = "no worker could be made: " + (cause.getMessage() == null ? cause : cause.getMessage());
        workers.put(new WorkerKey(lane, serving), new Failure(reason, clock.getAsLong()));
        return new LinkException(reason);
    }

    void collect(long now) {
        if (!links.isEmpty() || !workers.isEmpty()) {
            links.values().removeIf(failure -> now - failure.nanos >= RETRY_NANOS);
            workers.values().removeIf(failure -> now - failure.nanos >= WORKER_RETRY_NANOS);
        }
    }

    void clear() {
        links.clear();
        workers.clear();
    }
}
