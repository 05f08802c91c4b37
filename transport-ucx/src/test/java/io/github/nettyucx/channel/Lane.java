// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.util.Locale;
import java.util.Set;

/** What carries the bytes. Tests run in a JVM for each, in which every connection has to take that lane. */
public enum Lane {
    SHM(Set.of("sysv", "posix")),
    TCP(Set.of("tcp")),
    SOCKET(Set.of("socket"));

    /** What a JVM that was started for a lane has the lane's name in. */
    static final String PROPERTY = "io.github.nettyucx.test.lane";

    private final Set<String> transports;

    Lane(Set<String> transports) {
        this.transports = transports;
    }

    /** The one that this JVM was started for; shared memory, which is what is chosen on one host, in any other. */
    public static Lane current() {
        return valueOf(System.getProperty(PROPERTY, "shm").toUpperCase(Locale.ROOT));
    }

    /** Whether the bytes go over a link of UCX. */
    public boolean isLink() {
        return this != SOCKET;
    }

    /** Whether a channel that {@linkplain UcxSocketChannel#lane() says} that it uses this transport uses this lane. */
    public boolean has(String transport) {
        return transports.contains(transport);
    }

    /** As {@link UcxChannelOption#LANES} has it: this one, and where it cannot be had the socket. */
    String orSocket() {
        return isLink() ? this + ",socket" : toString();
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
