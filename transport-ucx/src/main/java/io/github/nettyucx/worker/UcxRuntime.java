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

/**
 * The process's UCX contexts, from which all loops make their workers.
 * <p>
 * A connection request can be accepted only by a worker of the listener's own context, so all loops share one. There
 * is one for each family of IP addresses: a worker's tcp lanes have addresses of one family, and a connection that was
 * made over the other one hangs or cannot be accepted. Contexts are made on first use and live as long as the process.
 */
public final class UcxRuntime {

    /** System property that chooses transports, in the syntax of {@code UCX_TLS}; the environment's is the default. */
    public static final String TLS_PROPERTY = "io.github.nettyucx.tls";

    /** Of the addresses that connections are made over. */
    enum Family {
        INET("inet,inet6"),
        INET6("inet6,inet");

        private final String priority;
        private UcpContext context;

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

    static UcpWorker newWorker(Family family, String name) throws IOException {
        return context(family).createWorker(new UcpWorkerParams()
                .clientId(HostIdentity.clientId())
                .name(name));
    }

    private static synchronized UcpContext context(Family family) throws IOException {
        if (family.context == null) {
            UcxLibrary.load();
            // In the environment, because UCX 1.16 does not take it by a change of the configuration; and in the user's
            // place, because UCX writes beyond its memory where the families differ.
            String before = UcxEnvironment.override(family.setting());
            try {
                family.context = newContext();
            } finally {
                UcxEnvironment.restore(family.setting(), before);
            }
        }
        return family.context;
    }

    private static UcpContext newContext() throws IOException {
        try (UcpConfig config = UcpConfig.read(null)) {
            String tls = System.getProperty(TLS_PROPERTY);
            if (tls != null) {
                config.modify("TLS", tls);
            }
            return UcpContext.create(new UcpContextParams()
                    .features(UcpFeature.TAG, UcpFeature.STREAM, UcpFeature.WAKEUP)
                    .mtWorkersShared(true)
                    .name("netty-ucx")
                    .config(config));
        }
    }
}
