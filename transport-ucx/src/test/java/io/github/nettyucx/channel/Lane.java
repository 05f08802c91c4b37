// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.worker.LinkKind;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/** What carries the bytes. Tests run in a JVM for each, in which every connection has to take that lane. */
public enum Lane {
    SHM(Set.of("sysv", "posix")),
    /** Where there is a device, or Linux's software in the place of one. Tests run on it only if they are told to. */
    RDMA(Set.of("rc_mlx5", "rc_verbs", "ud_mlx5", "ud_verbs")),
    TCP(Set.of("tcp")),
    SOCKET(Set.of("socket"));

    /** What a JVM that was started for a lane has the lane's name in. */
    static final String PROPERTY = "io.github.nettyucx.test.lane";

    /** Those on which tests are to run, with commas between them. */
    private static final String CHOICE = "io.github.nettyucx.test.lanes";

    private final Set<String> transports;

    Lane(Set<String> transports) {
        this.transports = transports;
    }

    /** The one that this JVM was started for; shared memory, which is what is chosen on one host, in any other. */
    public static Lane current() {
        return valueOf(System.getProperty(PROPERTY, "shm").toUpperCase(Locale.ROOT));
    }

    static Stream<Lane> chosen() {
        return Arrays.stream(values()).filter(Lane::isChosen);
    }

    /** Whether tests are to run on it. */
    boolean isChosen() {
        return List.of(System.getProperty(CHOICE, "shm,tcp,socket").split(",")).contains(toString());
    }

    /** As {@code UCX_TLS} has it. */
    String tls() {
        return this == RDMA ? "rc,ud" : toString();
    }

    /** The links over which the bytes go, if they do not go over a socket. */
    public LinkKind kind() {
        return LinkKind.valueOf(name());
    }

    /** Whether one worker of UCX serves the links of all peers. */
    boolean isShared() {
        return this == TCP || this == RDMA;
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
