// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.library.UcxEnvironment;
import io.github.nettyucx.library.UcxLibrary;
import io.github.nettyucx.ucp.UcpConfig;
import io.github.nettyucx.ucp.UcpContext;
import io.github.nettyucx.ucp.UcpContextParams;
import io.github.nettyucx.ucp.UcpFeature;
import io.github.nettyucx.ucp.UcpWorker;
import io.github.nettyucx.ucp.UcpWorkerParams;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The process's UCX contexts, from which all loops make their workers.
 * <p>
 * A connection request can be accepted only by a worker of the listener's own context, so all loops share one. There
 * is one for each family of IP addresses: a worker's tcp lanes have addresses of one family, and a connection that was
 * made over the other one hangs or cannot be accepted. And there is one of each without shared memory, for connections to
 * addresses that are not this host's: UCX would use it with a container that shares the IPC namespace, but not the
 * network namespace, where it can move bytes and cannot wake the sleeping peer. Contexts are made on first use and live
 * as long as the process.
 */
public final class UcxRuntime {

    /** System property that chooses transports, in the syntax of {@code UCX_TLS}; the environment's is the default. */
    public static final String TLS_PROPERTY = "io.github.nettyucx.tls";

    private static final String SHARED_MEMORY_ALIAS = "shm";
    private static final String NO_SHARED_MEMORY = '^' + SHARED_MEMORY_ALIAS;
    /** UCX's names, and its aliases. */
    private static final Set<String> SHARED_MEMORY =
            Set.of(SHARED_MEMORY_ALIAS, "sm", "mm", "sysv", "posix", "xpmem", "cma", "knem");

    /**
     * How many endpoints UCX looks at in one round, whether their peers are alive. It could stop after some, by default
     * 128, until the next round, 20 seconds later. It goes on there even if that endpoint has been destroyed meanwhile, if
     * that had no lane for keepalive at its end ({@code ucp_worker_keepalive_remove_ep} in {@code ucp_worker.c}, 1.13 to
     * 1.22), and reads memory that is somebody else's: so whatever the user says, no round stops before its end.
     */
    private static final String KEEPALIVE_NUM_EPS = "inf";

    /** Of the addresses that connections are made over. */
    enum Family {
        INET("inet,inet6"),
        INET6("inet6,inet");

        private final String priority;
        /** Without shared memory, and with it. */
        private final UcpContext[] contexts = new UcpContext[2];

        Family(String priority) {
            this.priority = priority;
        }

        static Family of(InetAddress address) {
            return address instanceof Inet6Address ? INET6 : INET;
        }

        private UcxEnvironment.Setting setting() {
            return new UcxEnvironment.Setting("UCX_TCP_AF_PRIO", priority,
                    "tcp lanes must have addresses of the family that the connection was made over");
        }
    }

    private UcxRuntime() {
    }

    /** @param local whether peers may be processes of this host, as far as addresses tell */
    static UcpWorker newWorker(Family family, boolean local, String name) throws IOException {
        return context(family, local).createWorker(new UcpWorkerParams()
                .clientId(HostIdentity.clientId())
                .name(name));
    }

    private static synchronized UcpContext context(Family family, boolean local) throws IOException {
        int index = local ? 1 : 0;
        if (family.contexts[index] == null) {
            UcxLibrary.load();
            // In the environment, because UCX 1.16 does not take it by a change of the configuration; and in the user's
            // place, because UCX writes beyond its memory where the families differ.
            String before = UcxEnvironment.override(family.setting());
            try {
                family.contexts[index] = newContext(local);
            } finally {
                UcxEnvironment.restore(family.setting(), before);
            }
        }
        return family.contexts[index];
    }

    private static UcpContext newContext(boolean local) throws IOException {
        try (UcpConfig config = UcpConfig.read(null)) {
            String tls = System.getProperty(TLS_PROPERTY);
            if (!local) {
                tls = withoutSharedMemory(tls == null ? System.getenv("UCX_TLS") : tls);
            }
            if (tls != null) {
                config.modify("TLS", tls);
            }
            config.modify("KEEPALIVE_NUM_EPS", KEEPALIVE_NUM_EPS);
            return UcpContext.create(new UcpContextParams()
                    .features(UcpFeature.TAG, UcpFeature.STREAM, UcpFeature.WAKEUP)
                    .mtWorkersShared(true)
                    .name("netty-ucx")
                    .config(config));
        }
    }

    /** @param tls in the syntax of {@code UCX_TLS}; {@code null} for all */
    static String withoutSharedMemory(String tls) {
        if (tls == null || tls.isBlank()) {
            return NO_SHARED_MEMORY;
        }
        if (tls.startsWith("^")) {
            return tls + ',' + SHARED_MEMORY_ALIAS;
        }
        List<String> names = new ArrayList<>(List.of(tls.split("\\s*,\\s*")));
        if (names.contains("all")) {
            return NO_SHARED_MEMORY;
        }
        names.removeAll(SHARED_MEMORY);
        // Who allows nothing else cannot connect in any case, and is told so by UCX.
        return names.isEmpty() ? tls : String.join(",", names);
    }
}
