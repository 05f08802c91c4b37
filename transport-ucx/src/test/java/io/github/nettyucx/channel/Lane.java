// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.util.Locale;
import java.util.Set;

/** What carries the bytes. A process chooses it once, before it loads UCX. */
public enum Lane {
    SHM("shm,tcp", Set.of("sysv", "posix")),
    TCP("tcp", Set.of("tcp"));

    /** What a JVM that was started for a lane has the lane's name in. */
    static final String PROPERTY = "io.github.nettyucx.test.lane";

    private final String tls;
    private final Set<String> transports;

    Lane(String tls, Set<String> transports) {
        this.tls = tls;
        this.transports = transports;
    }

    /** The one that this JVM was started for; shared memory, which is what UCX chooses on one host, in any other. */
    public static Lane current() {
        return valueOf(System.getProperty(PROPERTY, "shm").toUpperCase(Locale.ROOT));
    }

    /** In the syntax of {@code UCX_TLS}. */
    public String tls() {
        return tls;
    }

    /** Whether a channel that {@linkplain UcxSocketChannel#lane() says} that it uses this transport uses this lane. */
    public boolean has(String transport) {
        return transports.contains(transport);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
