// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.library.LockedMemory;
import io.github.nettyucx.library.UcxEnvironment;
import io.github.nettyucx.socket.AutoboundSockets;
import io.github.nettyucx.ucp.SharedContexts;
import io.github.nettyucx.ucp.UcpContext;
import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpMemory;
import io.github.nettyucx.ucp.UcpWorker;
import io.github.nettyucx.ucp.UcpWorkerParams;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The process's UCX contexts, from which all loops make their workers: one for each {@link LinkKind}, made on first
 * use, for as long as the process lives. Copies of this class that have the binding in common, as with the agent, have the
 * contexts in common. A worker has the transports of one kind only, so that it opens no port, and looks at no network
 * device, unless that is what it is for.
 */
public final class UcxRuntime {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UcxRuntime.class);

    /** System property that limits UCX's transports, in the syntax of {@code UCX_TLS}; the environment's is the default. */
    public static final String TLS_PROPERTY = "io.github.nettyucx.tls";

    /** Where UCX allocates: in the end it would take ordinary memory, and not tell that no other process attaches it. */
    private static final String SHARED_MEMORY = "md:sysv,md:posix";

    /** How long a failure is believed, at first and at last; each time twice as long. */
    private static final long FIRST_RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long LAST_RETRY_NANOS = TimeUnit.HOURS.toNanos(1);

    /** Why there is no context of a kind; kept, because the next attempt is likely to fail as well, and takes as long. */
    private static final Map<LinkKind, Failure> failures = new EnumMap<>(LinkKind.class);
    private static final Map<LinkKind, UcpContext> contexts = new EnumMap<>(LinkKind.class);
    /**
     * UCX has no lock for its contexts, which copies of this class share. An interned string is the same one for all of them,
     * whatever their class loaders.
     */
    private static final Object ONE_AT_A_TIME = UcxRuntime.class.getName().intern();
    /** Whether it has been told that workers go without a filter; under that lock. */
    private static boolean unfilteredTold;

    /**
     * @param retryNanos when it is worth the next attempt: for want of descriptors or shared memory UCX fails for a time
     * @param delayNanos from the failure to that, for the next one to be longer
     */
    private record Failure(String reason, long retryNanos, long delayNanos) {
    }

    private UcxRuntime() {
    }

    /**
     * Why this process cannot have links of a kind; {@code null} if it can, as far as is known before a link is made.
     * Loads UCX, and makes the context. Any thread may call.
     */
    public static synchronized String unavailability(LinkKind kind) {
        if (contexts.containsKey(kind)) {
            return null;
        }
        Failure known = failures.get(kind);
        if (known != null && System.nanoTime() - known.retryNanos < 0) {
            return known.reason;
        }
        try {
            String tls = kind.transports(allowedTransports());
            if (tls == null) {
                return failed(kind, "none of its transports is allowed by " + TLS_PROPERTY + " or UCX_TLS ("
                        + allowedTransports() + ')');
            }
            if (kind == LinkKind.RDMA && !UcxEnvironment.hasRdmaDevice()) {
                return failed(kind, "this host has no RDMA device (/sys/class/infiniband is empty or missing)");
            }
            String lack = kind == LinkKind.RDMA ? LockedMemory.lack() : null;
            if (lack != null) {
                return failed(kind, lack);
            }
            contexts.put(kind, newContext(kind, tls));
            failures.remove(kind);
            return null;
        } catch (IOException | RuntimeException | LinkageError e) {
            logger.debug("No context for {}.", kind, e);
            return failed(kind, e.getMessage());
        }
    }

    private static String failed(LinkKind kind, String reason) {
        Failure last = failures.get(kind);
        long delay = last == null ? FIRST_RETRY_NANOS : Math.min(2 * last.delayNanos, LAST_RETRY_NANOS);
        failures.put(kind, new Failure(reason, System.nanoTime() + delay, delay));
        return reason;
    }

    static UcpWorker newWorker(LinkKind kind, String name) throws IOException {
        UcpContext context = context(kind);
        synchronized (ONE_AT_A_TIME) {
            UcpWorkerParams params = new UcpWorkerParams().name(name);
            return kind == LinkKind.SHM ? newFilteredWorker(context, params) : context.createWorker(params);
        }
    }

    /**
     * Over shared memory peers wake each other by sockets to which anybody of the network namespace can send. UCX takes an
     * empty datagram there for a reset. No peer sends one.
     */
    private static UcpWorker newFilteredWorker(UcpContext context, UcpWorkerParams params) throws IOException {
        UcpWorker worker = context.createWorker(params);
        try {
            // What has come until now is not from a peer: nobody has been told of the worker.
            if (AutoboundSockets.refuseEmptyDatagrams(worker.eventFd()) == 0) {
                tellUnfiltered(new IOException("UCX has made no socket of the kind that is looked for"));
            }
        } catch (IOException e) {
            tellUnfiltered(e);
        } catch (Throwable e) {
            // Such as for want of memory: nobody else knows of the worker.
            worker.close();
            throw e;
        }
        return worker;
    }

    private static void tellUnfiltered(IOException cause) {
        if (!unfilteredTold) {
            unfilteredTold = true;
            logger.debug("Workers for shared memory have no filter against empty datagrams.", cause);
        }
    }

    /** Registers memory for the links of a kind. Any thread may call. */
    static UcpMemory register(LinkKind kind, long address, long length) throws IOException {
        // Outside of the lock, because it takes time. UCX has one for its cache of registered memory, and needs none without.
        return context(kind).map(address, length);
    }

    /**
     * Has UCX allocate memory that processes of this host can attach. Any thread may call.
     *
     * @throws IOException if this process has no shared memory, or not so much
     */
    public static UcpMemory allocateShared(long length) throws IOException {
        return context(LinkKind.SHM).allocate(length);
    }

    private static synchronized UcpContext context(LinkKind kind) throws IOException {
        String problem = unavailability(kind);
        if (problem != null) {
            throw new IOException(problem);
        }
        return contexts.get(kind);
    }

    private static String allowedTransports() {
        String property = System.getProperty(TLS_PROPERTY);
        return property == null ? System.getenv("UCX_TLS") : property;
    }

    private static UcpContext newContext(LinkKind kind, String tls) throws IOException {
        Map<String, String> options = new HashMap<>();
        options.put("TLS", tls);
        // The control socket tells when a peer goes.
        options.put("KEEPALIVE_INTERVAL", "inf");
        if (kind == LinkKind.SHM) {
            options.put("ALLOC_PRIO", SHARED_MEMORY);
            // What UCX cannot arm in a worker it tells. Transports that no link uses it would arm by itself, also while it makes
            // the worker, and end the process where it cannot: an empty datagram of somebody's is enough.
            options.put("ADAPTIVE_PROGRESS", "n");
        }
        return SharedContexts.get("netty-ucx", options, UcpFeature.TAG, UcpFeature.WAKEUP);
    }
}
